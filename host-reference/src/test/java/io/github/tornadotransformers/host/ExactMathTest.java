package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.Float64Erf;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;

class ExactMathTest {
    @Test
    void expIsWithinTwoUlpsOfTheTruth() {
        long worst = 0;
        for (float x = -87.32f; x < 88.7f; x += 0.000371f) {
            worst = Math.max(worst, Bits.ulps(ExactMath.exp(x), (float) Math.exp(x)));
        }
        assertThat(worst).isLessThanOrEqualTo(2);
    }

    @Test
    void expHasPinnedBits() {
        assertThat(Float.floatToIntBits(ExactMath.exp(1f))).isEqualTo(0x402DF854);
        assertThat(Float.floatToIntBits(ExactMath.exp(-0.5f))).isEqualTo(0x3F1B4598);
        assertThat(ExactMath.exp(0f)).isEqualTo(1f);
        assertThat(ExactMath.exp(-0f)).isEqualTo(1f);
    }

    /** Over a grid, as {@code src/test/python/pin_exact_math.py} gives them, the same steps in NumPy: no tolerance hides a changed step. */
    @Test
    void everyBitIsPinned() {
        assertThat(hash(-64f, 1f / 512, ExactMath::exp)).isEqualTo(0x4C57BCAD);
        assertThat(hash(-4f, 1f / 8192, ExactMath::geluTanh)).isEqualTo(0x4E4718BD);
        assertThat(hash(-4f, 1f / 8192, ExactMath::silu)).isEqualTo(0x427B6066);
        assertThat(hash(-8f, 1f / 4096, ExactMath::tanh)).isEqualTo(0x5E229054);
        assertThat(hash(-8f, 1f / 4096, ExactMath::erf)).isEqualTo(0xC890EB7C);
        assertThat(hash(-8f, 1f / 4096, ExactMath::geluErf)).isEqualTo(0x52261194);
        assertThat(hash(-8f, 1f / 4096, ExactMath::siluSlope)).isEqualTo(0x3FA6C165);
        assertThat(hash(-8f, 1f / 4096, ExactMath::geluTanhSlope)).isEqualTo(0x60AE7345);
    }

    private static int hash(float first, float step, UnaryOperator<Float> function) {
        int hash = 0;
        for (int i = 0; i < 1 << 16; i++) {
            hash = 31 * hash + Float.floatToRawIntBits(function.apply(first + i * step));
        }
        return hash;
    }

    /** Of all numbers of two neighbouring exponents, by their squares in whole numbers; any other is one of them times a power of 4. */
    @Test
    void inverseRootsAreRoundedToNearest() {
        for (long x = 1L << 23; x < 1L << 25; x += x < 1L << 24 ? 1 : 2) {
            // x * 2^-23 in [1, 4), its inverse root in (2^-1, 1], in units of 2^-25 so that middles of two floats are
            // whole.
            long root = (long) Math.scalb(ScalarOps.inverseRoot(Math.scalb((float) x, -23), 0f), 25);
            assertThat(root >= 1L << 25
                            || exceeds((root - 1) * (root - 1), x, 73) < 0
                                    && exceeds((root + 1) * (root + 1), x, 73) > 0)
                    .as("inverse root of %d", x)
                    .isTrue();
        }
        assertThat(ScalarOps.inverseRoot(1f, 0f)).isEqualTo(1f);
        assertThat(ScalarOps.inverseRoot(0x1p24f, 1f))
                .as("the sum is rounded by itself")
                .isEqualTo(0x1p-12f);
    }

    /** The sign of {@code square * x - 2^power}, for a power of 64 or more. */
    private static int exceeds(long square, long x, int power) {
        long high = Math.multiplyHigh(square, x) - (1L << power - 64);
        return high != 0 ? Long.signum(high) : square * x == 0 ? 0 : 1;
    }

    @Test
    void tanhAndErfAreWithinThreeUlpsOfTheTruth() {
        assertThat(worst(ExactMath::tanh, Math::tanh)).isLessThanOrEqualTo(3);
        assertThat(worst(ExactMath::erf, Float64Erf::erf)).isLessThanOrEqualTo(3);
    }

    /** The largest distance in ulp, over both signs and all magnitudes from 2^-40 to 16. */
    private static long worst(UnaryOperator<Float> function, DoubleUnaryOperator truth) {
        long worst = 0;
        for (float size = 0x1p-40f; size < 16; size *= 1.00007f) {
            for (float x : new float[] {size, -size}) {
                worst = Math.max(worst, Bits.ulps(function.apply(x), (float) truth.applyAsDouble(x)));
            }
        }
        return worst;
    }

    @Test
    void tanhAndErfAtTheEdges() {
        for (UnaryOperator<Float> function : List.<UnaryOperator<Float>>of(ExactMath::tanh, ExactMath::erf)) {
            assertThat(function.apply(0f)).isZero();
            assertThat(function.apply(Float.MIN_VALUE)).isBetween(0f, 2 * Float.MIN_VALUE);
            assertThat(function.apply(Float.MAX_VALUE)).isEqualTo(1f);
            assertThat(function.apply(Float.POSITIVE_INFINITY)).isEqualTo(1f);
            assertThat(function.apply(Float.NEGATIVE_INFINITY)).isEqualTo(-1f);
            assertThat(function.apply(Float.NaN)).isNaN();
        }
    }

    @Test
    void expAtTheEdges() {
        assertThat(ExactMath.exp(-87.34f)).isZero();
        assertThat(ExactMath.exp(-87.33f)).isGreaterThanOrEqualTo(Float.MIN_NORMAL);
        assertThat(ExactMath.exp(88.72f)).isBetween(3.3e38f, Float.MAX_VALUE);
        assertThat(ExactMath.exp(88.73f)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(ExactMath.exp(Float.NEGATIVE_INFINITY)).isZero();
        assertThat(ExactMath.exp(Float.NaN)).isNaN();
    }

    @Test
    void vectorExpHasTheBitsOfExp() {
        int lanes = VectorMath.LANES;
        float[] x = new float[lanes];
        float[] actual = new float[lanes];
        float[] expected = new float[lanes];
        for (long bits = 0; bits <= 0xFFFFFFFFL; bits += 65_521L * lanes) {
            for (int i = 0; i < lanes; i++) {
                x[i] = Float.intBitsToFloat((int) (bits + 65_521L * i));
                expected[i] = ExactMath.exp(x[i]);
            }
            VectorMath.exp(FloatVector.fromArray(VectorMath.FLOATS, x, 0)).intoArray(actual, 0);
            Bits.assertSame("exp from bits " + Long.toHexString(bits), actual, expected);
        }
    }

    @Test
    void geluAndSiluAreCloseToTheirDefinitions() {
        for (double x = -12; x < 12; x += 0.0173) {
            double u = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
            double gelu = 0.5 * x * (1 + Math.tanh(u));
            double silu = x / (1 + Math.exp(-x));
            double geluErf = 0.5 * x * (1 + Float64Erf.erf(x / Math.sqrt(2)));
            assertThat((double) ExactMath.geluErf((float) x)).isCloseTo(geluErf, within(geluErf));
            assertThat((double) ExactMath.geluTanh((float) x)).isCloseTo(gelu, within(gelu));
            assertThat((double) ExactMath.silu((float) x)).isCloseTo(silu, within(silu));
        }
    }

    /** Differences of the definitions, in double, over a step at which neither rounding nor curvature shows. */
    @Test
    void slopesAreThoseOfTheirFunctions() {
        DoubleUnaryOperator gelu = x -> 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
        DoubleUnaryOperator silu = x -> x / (1 + Math.exp(-x));
        double step = 1e-5;
        for (double x = -12; x < 12; x += 0.0173) {
            assertThat((double) ExactMath.geluTanhSlope((float) x)).isCloseTo(slope(gelu, x, step), within(1));
            assertThat((double) ExactMath.siluSlope((float) x)).isCloseTo(slope(silu, x, step), within(1));
        }
    }

    private static double slope(DoubleUnaryOperator function, double x, double step) {
        return (function.applyAsDouble(x + step) - function.applyAsDouble(x - step)) / (2 * step);
    }

    private static org.assertj.core.data.Offset<Double> within(double value) {
        return org.assertj.core.data.Offset.offset(1e-6 + 1e-6 * Math.abs(value));
    }
}
