package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.math.TornadoMath;

/**
 * The functions of a kernel in either mode; the mode is a scalar, so that only its branch remains when a device compiles. Fast
 * mode takes the device's own functions, in float32 throughout: it runs on devices without double.
 */
public final class KernelMath {
    /** The contract's bits. */
    public static final int STRICT = 0;

    /** What the device does fastest. */
    public static final int FAST = 1;

    private KernelMath() {}

    static float exp(int math, float x) {
        return math == FAST ? TornadoMath.exp(x) : ExactMath.exp(x);
    }

    static float quotient(int math, float a, float b) {
        return math == FAST ? a / b : ExactMath.quotient(a, b);
    }

    /** {@code 1 / sqrt(x + epsilon)}. */
    static float inverseRoot(int math, float x, float epsilon) {
        return math == FAST ? 1f / TornadoMath.sqrt(x + epsilon) : ExactMath.inverseRoot(x, epsilon);
    }

    /** {@code x * sigmoid(x)}, arXiv:1702.03118. */
    static float silu(int math, float x) {
        return quotient(math, x, 1f + exp(math, -x));
    }

    /** GELU's tanh form, arXiv:1606.08415, as {@code x * sigmoid(2u)}. */
    static float geluTanh(int math, float x) {
        return quotient(math, x, 1f + exp(math, -2f * ExactMath.geluArgument(x)));
    }

    static float sigmoid(int math, float x) {
        return quotient(math, 1f, 1f + exp(math, -x));
    }

    /** The derivative of {@link #silu}: {@code s (1 + x (1 - s))} with {@code s = sigmoid(x)}. */
    static float siluSlope(int math, float x) {
        float s = sigmoid(math, x);
        return s * (1f + x * (1f - s));
    }

    /** The derivative of {@link #geluTanh}: {@code s + x s (1 - s) 2u'} with {@code s = sigmoid(2u)}. */
    static float geluTanhSlope(int math, float x) {
        float s = sigmoid(math, 2f * ExactMath.geluArgument(x));
        return s + x * (s * (1f - s)) * (2f * ExactMath.geluArgumentSlope(x));
    }
}
