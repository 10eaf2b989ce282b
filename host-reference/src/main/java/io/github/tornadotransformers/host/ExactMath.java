package io.github.tornadotransformers.host;

/**
 * The contract's transcendental functions: float32, of {@code + - *} and one division only, so that every engine can give
 * the same bits. A product that is added to something is fused into the sum; what would leave it open which product is, such as a
 * product that is an argument of these functions, is made a product by itself.
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

    /** Below this, {@link #tanh} is a polynomial; Cephes, tanhf. */
    static final float TANH_SMALL = 0.625f;

    /** Coefficients of {@code tanh(x) = x + x^3 P(x^2)}, highest first; Cephes, tanhf. */
    static final float T0 = -5.70498872745e-3f;

    static final float T1 = 2.06390887954e-2f;
    static final float T2 = -5.37397155531e-2f;
    static final float T3 = 1.33314422036e-1f;
    static final float T4 = -3.33332819422e-1f;

    /** Below this, {@link #erf} is a polynomial. */
    static final float ERF_SMALL = 0.9f;

    /** Above this, erf is 1 in float32. */
    static final float ERF_ONE = 3.92f;

    /** Coefficients of {@code erf(x) = x + x P(x^2)} on [0, 0.9], highest first: a minimax fit, relative error 1.2e-8. */
    static final float E0 = -0.0006090360111556947f;

    static final float E1 = 0.005011962726712227f;
    static final float E2 = -0.02677890844643116f;
    static final float E3 = 0.11282140761613846f;
    static final float E4 = -0.3761252462863922f;
    static final float E5 = 0.12837915122509003f;

    /** Coefficients of {@code erf(x) = 1 - exp(-x Q(x))} on [0.9, 3.93], highest first: a minimax fit, error 9e-10. */
    static final float F0 = 1.0432903764012735e-05f;

    static final float F1 = -0.000314856122713536f;
    static final float F2 = 0.0036103343591094017f;
    static final float F3 = -0.02369455061852932f;
    static final float F4 = 0.1061590313911438f;
    static final float F5 = 0.6351980566978455f;
    static final float F6 = 1.1286370754241943f;

    /** {@code sqrt(1/2)}. */
    static final float ROOT_OF_HALF = 0.70710678f;

    private ExactMath() {}

    /** e^x within 1 ulp or so; 0 below {@value #EXP_UNDERFLOW}, infinity above {@value #EXP_OVERFLOW}, NaN for NaN. */
    public static float exp(float x) {
        if (x < EXP_UNDERFLOW) {
            return 0f;
        }
        if (x > EXP_OVERFLOW) {
            return Float.POSITIVE_INFINITY;
        }
        float n = Math.fma(x, LOG2_E, ROUNDING) - ROUNDING;
        float r = Math.fma(n, -LN2_LOW, Math.fma(n, -LN2_HIGH, x));
        float p = P0;
        p = Math.fma(p, r, P1);
        p = Math.fma(p, r, P2);
        p = Math.fma(p, r, P3);
        p = Math.fma(p, r, P4);
        p = Math.fma(p, r, P5);
        float polynomial = Math.fma(p, r * r, r) + 1f;
        int half = (int) n >> 1;
        return polynomial * powerOfTwo(half) * powerOfTwo((int) n - half);
    }

    /** 2^n, exactly, for n in [-126, 127]. */
    private static float powerOfTwo(int n) {
        return Float.intBitsToFloat((n + 127) << 23);
    }

    /** {@code x * sigmoid(x)}, arXiv:1702.03118. */
    public static float silu(float x) {
        return x / (1f + exp(negated(x)));
    }

    /** {@code a * b} by itself, which no sum that it joins takes apart: fused with 0, so that -0 becomes 0. */
    static float product(float a, float b) {
        return Math.fma(a, b, 0f);
    }

    /** {@code -x} as a product by itself; 0 of either zero. */
    static float negated(float x) {
        return product(-1f, x);
    }

    /** The {@code u} of {@link #geluTanh}. */
    private static float geluArgument(float x) {
        return GELU_SCALE * Math.fma(GELU_CUBIC, x * x * x, x);
    }

    /** {@code x/2 (1 + tanh(u))}, {@code u = sqrt(2/pi) (x + 0.044715 x^3)}, written as {@code x * sigmoid(2u)}. */
    public static float geluTanh(float x) {
        return x / (1f + exp(product(-2f, geluArgument(x))));
    }

    /** {@code x/2 (1 + erf(x / sqrt(2)))}, arXiv:1606.08415. */
    public static float geluErf(float x) {
        return product(x * 0.5f, erf(product(x, ROOT_OF_HALF)) + 1f);
    }

    /** The hyperbolic tangent within 2 ulp or so; NaN for NaN. */
    public static float tanh(float x) {
        float size = Math.abs(x);
        if (size < TANH_SMALL) {
            float square = x * x;
            float p = T0;
            p = Math.fma(p, square, T1);
            p = Math.fma(p, square, T2);
            p = Math.fma(p, square, T3);
            p = Math.fma(p, square, T4);
            return Math.fma(p, square * x, x);
        }
        return withSignOf(x, 1f - 2f / (exp(size + size) + 1f));
    }

    /** The error function within 2 ulp or so; NaN for NaN. */
    static float erf(float x) {
        float size = Math.abs(x);
        if (size < ERF_SMALL) {
            float square = x * x;
            float p = E0;
            p = Math.fma(p, square, E1);
            p = Math.fma(p, square, E2);
            p = Math.fma(p, square, E3);
            p = Math.fma(p, square, E4);
            p = Math.fma(p, square, E5);
            return Math.fma(p, x, x);
        }
        if (size > ERF_ONE) {
            return withSignOf(x, 1f);
        }
        float q = F0;
        q = Math.fma(q, size, F1);
        q = Math.fma(q, size, F2);
        q = Math.fma(q, size, F3);
        q = Math.fma(q, size, F4);
        q = Math.fma(q, size, F5);
        q = Math.fma(q, size, F6);
        return withSignOf(x, 1f - exp(product(negated(q), size)));
    }

    /** @param magnitude not negative */
    private static float withSignOf(float x, float magnitude) {
        return x < 0 ? -magnitude : magnitude;
    }

    /** {@code 1 / (1 + exp(-x))}. */
    static float sigmoid(float x) {
        return 1f / (1f + exp(negated(x)));
    }

    /** The derivative of {@link #silu}: {@code s (1 + x (1 - s))} with {@code s = sigmoid(x)}. */
    static float siluSlope(float x) {
        float s = sigmoid(x);
        return product(s, Math.fma(x, 1f - s, 1f));
    }

    /**
     * The derivative of {@link #geluTanh}: {@code s + x s (1 - s) 2u'} with {@code s = sigmoid(2u)} and
     * {@code u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2)}. NaN where x^2 overflows.
     */
    static float geluTanhSlope(float x) {
        float s = sigmoid(product(2f, geluArgument(x)));
        float slope = GELU_SCALE * Math.fma(GELU_CUBIC_SLOPE, x * x, 1f);
        return Math.fma(x * (s * (1f - s)), 2f * slope, s);
    }
}
