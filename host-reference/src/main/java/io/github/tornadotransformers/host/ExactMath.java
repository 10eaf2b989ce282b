package io.github.tornadotransformers.host;

/**
 * The contract's transcendental functions: float32, of {@code + - *} and one division only, so that every engine can give
 * the same bits. A product is rounded before it is added.
 */
public final class ExactMath {
    static final float EXP_UNDERFLOW = -87.33f;
    static final float EXP_OVERFLOW = 88.72f;
    static final float LOG2_E = 1.44269504f;

    /** ln 2 in two parts: the first has few bits, so that its product with a small integer is exact. */
    static final float LN2_HIGH = 0.693359375f;

    static final float LN2_LOW = -2.12194440e-4f;

    /** Adding and subtracting 1.5 * 2^23 rounds a float below 2^22 to an integer, ties to even. */
    static final float ROUNDING = 12582912f;

    /** Coefficients of {@code exp(r) = 1 + r + r^2 P(r)} on [-ln2/2, ln2/2], highest first; Cephes, expf. */
    static final float P0 = 1.9875691500e-4f;

    static final float P1 = 1.3981999507e-3f;
    static final float P2 = 8.3334519073e-3f;
    static final float P3 = 4.1665795894e-2f;
    static final float P4 = 1.6666665459e-1f;
    static final float P5 = 5.0000001201e-1f;

    /** {@code sqrt(2 / pi)} and the cubic term of GELU's tanh form, arXiv:1606.08415. */
    static final float GELU_SCALE = 0.7978845608f;

    static final float GELU_CUBIC = 0.044715f;

    /** Three times {@link #GELU_CUBIC}: of the cubic term's derivative. */
    static final float GELU_CUBIC_SLOPE = 0.134145f;

    private ExactMath() {}

    /** e^x within 1 ulp or so; 0 below {@value #EXP_UNDERFLOW}, infinity above {@value #EXP_OVERFLOW}, NaN for NaN. */
    public static float exp(float x) {
        if (x < EXP_UNDERFLOW) {
            return 0f;
        }
        if (x > EXP_OVERFLOW) {
            return Float.POSITIVE_INFINITY;
        }
        float n = (x * LOG2_E + ROUNDING) - ROUNDING;
        float r = (x - n * LN2_HIGH) - n * LN2_LOW;
        float p = P0;
        p = p * r + P1;
        p = p * r + P2;
        p = p * r + P3;
        p = p * r + P4;
        p = p * r + P5;
        float polynomial = (p * (r * r) + r) + 1f;
        int half = (int) n >> 1;
        return polynomial * powerOfTwo(half) * powerOfTwo((int) n - half);
    }

    /** 2^n, exactly, for n in [-126, 127]. */
    private static float powerOfTwo(int n) {
        return Float.intBitsToFloat((n + 127) << 23);
    }

    /** {@code x * sigmoid(x)}, arXiv:1702.03118. */
    public static float silu(float x) {
        return x / (1f + exp(-x));
    }

    /** {@code x/2 (1 + tanh(u))}, {@code u = sqrt(2/pi) (x + 0.044715 x^3)}, written as {@code x * sigmoid(2u)}. */
    public static float geluTanh(float x) {
        float u = GELU_SCALE * (x + GELU_CUBIC * (x * x * x));
        return x / (1f + exp(-2f * u));
    }

    /** {@code 1 / (1 + exp(-x))}. */
    static float sigmoid(float x) {
        return 1f / (1f + exp(-x));
    }

    /** The derivative of {@link #silu}: {@code s (1 + x (1 - s))} with {@code s = sigmoid(x)}. */
    static float siluSlope(float x) {
        float s = sigmoid(x);
        return s * (1f + x * (1f - s));
    }

    /**
     * The derivative of {@link #geluTanh}: {@code s + x s (1 - s) 2u'} with {@code s = sigmoid(2u)} and
     * {@code u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2)}. NaN where x^2 overflows.
     */
    static float geluTanhSlope(float x) {
        float u = GELU_SCALE * (x + GELU_CUBIC * (x * x * x));
        float s = sigmoid(2f * u);
        float slope = GELU_SCALE * (1f + GELU_CUBIC_SLOPE * (x * x));
        return s + x * (s * (1f - s)) * (2f * slope);
    }
}
