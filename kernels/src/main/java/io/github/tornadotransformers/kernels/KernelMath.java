package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.math.TornadoMath;

/**
 * The functions of a kernel in either mode; the mode is a scalar, so that only its branch remains when a device compiles. Fast
 * mode takes the device's own functions.
 */
public final class KernelMath {
    /** The contract's bits. */
    public static final int STRICT = 0;

    /** What the device does fastest. */
    public static final int FAST = 1;

    private static final float ROOT_OF_HALF = 0.70710678f;

    private KernelMath() {}

    static float exp(int math, float x) {
        return math == FAST ? TornadoMath.exp(x) : ExactMath.exp(x);
    }

    static float quotient(int math, float a, float b) {
        return math == FAST ? a / b : Division.quotient(a, b);
    }

    /** {@code 1 / sqrt(x + epsilon)}. */
    static float inverseRoot(int math, float x, float epsilon) {
        return math == FAST ? 1f / TornadoMath.sqrt(x + epsilon) : Division.inverseRoot(x + epsilon);
    }

    /** {@code x * sigmoid(x)}, arXiv:1702.03118. */
    static float silu(int math, float x) {
        return quotient(math, x, 1f + exp(math, Fused.negated(x)));
    }

    /** GELU's tanh form, arXiv:1606.08415, as {@code x * sigmoid(2u)}. */
    static float geluTanh(int math, float x) {
        return quotient(math, x, 1f + exp(math, Fused.product(-2f, ExactMath.geluArgument(x))));
    }

    /** GELU itself, arXiv:1606.08415: {@code x/2 (1 + erf(x / sqrt(2)))}. A device's own erf is not to be had: ours in both modes. */
    static float geluErf(float x) {
        return Fused.product(x * 0.5f, ExactMath.erf(Fused.product(x, ROOT_OF_HALF)) + 1f);
    }

    static float tanh(int math, float x) {
        return math == FAST ? TornadoMath.tanh(x) : ExactMath.tanh(x);
    }

    /** One of the activations of {@link LinearKernels}. */
    static float activate(int math, int activation, float x) {
        float y = x;
        if (activation == LinearKernels.SILU) {
            y = silu(math, x);
        }
        if (activation == LinearKernels.GELU_TANH) {
            y = geluTanh(math, x);
        }
        if (activation == LinearKernels.GELU_ERF) {
            y = geluErf(x);
        }
        return y;
    }

    /**
     * {@code y = x * factor}, and {@code cap * tanh(y * inverseCap)} where there is a cap.
     *
     * @param cap 0 for none
     * @param inverseCap {@code 1 / cap}, rounded once
     */
    static float scaled(int math, float x, float factor, float cap, float inverseCap) {
        float y = x * factor;
        if (cap != 0f) {
            y = cap * tanh(math, Fused.product(y, inverseCap));
        }
        return y;
    }

    static float sigmoid(int math, float x) {
        return quotient(math, 1f, 1f + exp(math, Fused.negated(x)));
    }

    /** The derivative of {@link #silu}: {@code s (1 + x (1 - s))} with {@code s = sigmoid(x)}. */
    static float siluSlope(int math, float x) {
        float s = sigmoid(math, x);
        return Fused.product(s, Fused.fma(x, 1f - s, 1f));
    }

    /** The derivative of {@link #geluTanh}: {@code s + x s (1 - s) 2u'} with {@code s = sigmoid(2u)}. */
    static float geluTanhSlope(int math, float x) {
        float s = sigmoid(math, Fused.product(2f, ExactMath.geluArgument(x)));
        return Fused.fma(x * (s * (1f - s)), 2f * ExactMath.geluArgumentSlope(x), s);
    }
}
