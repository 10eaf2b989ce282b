package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** The kernels' functions have the bits of the oracle's, for floats of every exponent and both signs, infinities and NaN. */
class ExactMathTest {
    /** Coprime to powers of two, so that all mantissa bits vary. */
    private static final long STRIDE = 1021;

    private interface FloatFunction {
        float apply(float x);
    }

    @Test
    void exp() {
        assertSame(ExactMath::exp, io.github.tornadotransformers.host.ExactMath::exp);
    }

    @Test
    void silu() {
        assertSame(x -> KernelMath.silu(KernelMath.STRICT, x), io.github.tornadotransformers.host.ExactMath::silu);
    }

    @Test
    void geluTanh() {
        assertSame(
                x -> KernelMath.geluTanh(KernelMath.STRICT, x), io.github.tornadotransformers.host.ExactMath::geluTanh);
    }

    @Test
    void geluErf() {
        assertSame(KernelMath::geluErf, io.github.tornadotransformers.host.ExactMath::geluErf);
    }

    @Test
    void tanh() {
        assertSame(x -> KernelMath.tanh(KernelMath.STRICT, x), io.github.tornadotransformers.host.ExactMath::tanh);
    }

    /** Fast mode's functions are Java's here, and the device's there. */
    @Test
    void fastModeIsClose() {
        for (float x = -20f; x < 20f; x += 0.37f) {
            assertThat(KernelMath.silu(KernelMath.FAST, x))
                    .isCloseTo(KernelMath.silu(KernelMath.STRICT, x), Percentage.withPercentage(1e-4));
            assertThat(KernelMath.inverseRoot(KernelMath.FAST, x * x, 1e-5f))
                    .isCloseTo(
                            KernelMath.inverseRoot(KernelMath.STRICT, x * x, 1e-5f), Percentage.withPercentage(1e-4));
        }
    }

    private static void assertSame(FloatFunction actual, FloatFunction expected) {
        for (long bits = 0; bits < 1L << 32; bits += STRIDE) {
            requireSame(Float.intBitsToFloat((int) bits), actual, expected);
        }
        for (float x :
                new float[] {0f, -0f, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN, -87.33f, 88.72f}) {
            requireSame(x, actual, expected);
            requireSame(Math.nextUp(x), actual, expected);
            requireSame(Math.nextDown(x), actual, expected);
        }
    }

    private static void requireSame(float x, FloatFunction actual, FloatFunction expected) {
        float got = actual.apply(x);
        float wanted = expected.apply(x);
        if (Float.floatToIntBits(got) != Float.floatToIntBits(wanted)) {
            throw new AssertionError("at " + x + ": " + got + " instead of " + wanted);
        }
    }
}
