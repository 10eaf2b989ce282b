package io.github.tornadotransformers.kernels;

/**
 * The contract's transcendental functions in what every device compiles: {@code + - *}, fused, selections, a fixed loop and
 * {@link Division}. No bit casts, no early returns. Error: 0 ulp against the oracle for every float.
 *
 * <p>Source: the contract; Cephes, expf.
 */
final class ExactMath {
    private static final float EXP_UNDERFLOW = -87.33f;
    private static final float EXP_OVERFLOW = 88.72f;
    private static final float LOG2_E = 1.44269504f;
    private static final float LN2_HIGH = 0.693359375f;
    private static final float LN2_LOW = -2.12194440e-4f;

    /** Adding and subtracting 1.5 * 2^23 rounds a float below 2^22 to an integer, ties to even. */
    private static final float ROUNDING = 12582912f;

    private static final float P0 = 1.9875691500e-4f;
    private static final float P1 = 1.3981999507e-3f;
    private static final float P2 = 8.3334519073e-3f;
    private static final float P3 = 4.1665795894e-2f;
    private static final float P4 = 1.6666665459e-1f;
    private static final float P5 = 5.0000001201e-1f;

    private static final float GELU_SCALE = 0.7978845608f;
    private static final float GELU_CUBIC = 0.044715f;
    private static final float GELU_CUBIC_SLOPE = 0.134145f;

    /** Below this, {@link #tanh} is a polynomial; Cephes, tanhf. */
    private static final float TANH_SMALL = 0.625f;

    private static final float T0 = -5.70498872745e-3f;
    private static final float T1 = 2.06390887954e-2f;
    private static final float T2 = -5.37397155531e-2f;
    private static final float T3 = 1.33314422036e-1f;
    private static final float T4 = -3.33332819422e-1f;

    /** Below this, {@link #erf} is a polynomial, and above the other it is 1. */
    private static final float ERF_SMALL = 0.9f;

    private static final float ERF_ONE = 3.92f;

    private static final float E0 = -0.0006090360111556947f;
    private static final float E1 = 0.005011962726712227f;
    private static final float E2 = -0.02677890844643116f;
    private static final float E3 = 0.11282140761613846f;
    private static final float E4 = -0.3761252462863922f;
    private static final float E5 = 0.12837915122509003f;

    private static final float F0 = 1.0432903764012735e-05f;
    private static final float F1 = -0.000314856122713536f;
    private static final float F2 = 0.0036103343591094017f;
    private static final float F3 = -0.02369455061852932f;
    private static final float F4 = 0.1061590313911438f;
    private static final float F5 = 0.6351980566978455f;
    private static final float F6 = 1.1286370754241943f;

    /** Where {@link #exp} is not clamped, its exponent of two is at least this. */
    private static final int LEAST_EXPONENT = -126;

    /** Keeps every exponent above the least, and makes the number where exp is clamped one that is not negative. */
    private static final int EXPONENTS = 0xFF;

    /** 2^(LEAST_EXPONENT / 2). */
    private static final float LEAST_POWER = 0x1p-63f;

    private static final int POWER_BITS = 7;

    private ExactMath() {}

    /** e^x; 0 below {@value #EXP_UNDERFLOW}, infinity above {@value #EXP_OVERFLOW}, NaN for NaN. */
    static float exp(float x) {
        float n = Fused.fma(x, LOG2_E, ROUNDING) - ROUNDING;
        float r = Fused.fma(n, -LN2_LOW, Fused.fma(n, -LN2_HIGH, x));
        float p = P0;
        p = Fused.fma(p, r, P1);
        p = Fused.fma(p, r, P2);
        p = Fused.fma(p, r, P3);
        p = Fused.fma(p, r, P4);
        p = Fused.fma(p, r, P5);
        float polynomial = Fused.fma(p, r * r, r) + 1f;
        int raised = ((int) n - LEAST_EXPONENT) & EXPONENTS;
        int half = raised / 2;
        float power = powerOfTwo(half);
        float otherPower = raised - 2 * half == 1 ? power * 2f : power;
        float result = Fused.product(polynomial * power, otherPower);
        result = x < EXP_UNDERFLOW ? 0f : result;
        return x > EXP_OVERFLOW ? Float.POSITIVE_INFINITY : result;
    }

    /** {@link #LEAST_POWER} * 2^n, exactly, for n in [0, 127], by repeated squaring. */
    private static float powerOfTwo(int n) {
        float power = LEAST_POWER;
        float factor = 2f;
        int bits = n;
        for (int step = 0; step < POWER_BITS; step++) {
            int rest = bits / 2;
            power = bits - 2 * rest == 1 ? power * factor : power;
            factor = factor * factor;
            bits = rest;
        }
        return power;
    }

    /** The hyperbolic tangent; NaN for NaN. */
    static float tanh(float x) {
        float size = x < 0f ? -x : x;
        float square = x * x;
        float p = T0;
        p = Fused.fma(p, square, T1);
        p = Fused.fma(p, square, T2);
        p = Fused.fma(p, square, T3);
        p = Fused.fma(p, square, T4);
        float small = Fused.fma(p, square * x, x);
        float large = 1f - Division.quotient(2f, exp(size + size) + 1f);
        float signed = x < 0f ? -large : large;
        return size < TANH_SMALL ? small : signed;
    }

    /** The error function; NaN for NaN. */
    static float erf(float x) {
        float size = x < 0f ? -x : x;
        float square = x * x;
        float p = E0;
        p = Fused.fma(p, square, E1);
        p = Fused.fma(p, square, E2);
        p = Fused.fma(p, square, E3);
        p = Fused.fma(p, square, E4);
        p = Fused.fma(p, square, E5);
        float small = Fused.fma(p, x, x);
        float q = F0;
        q = Fused.fma(q, size, F1);
        q = Fused.fma(q, size, F2);
        q = Fused.fma(q, size, F3);
        q = Fused.fma(q, size, F4);
        q = Fused.fma(q, size, F5);
        q = Fused.fma(q, size, F6);
        float middle = 1f - exp(Fused.product(Fused.negated(q), size));
        float large = size > ERF_ONE ? 1f : middle;
        float signed = x < 0f ? -large : large;
        return size < ERF_SMALL ? small : signed;
    }

    /** GELU's {@code u = sqrt(2/pi) (x + 0.044715 x^3)}, arXiv:1606.08415. */
    static float geluArgument(float x) {
        return GELU_SCALE * Fused.fma(GELU_CUBIC, x * x * x, x);
    }

    /** The derivative of {@link #geluArgument}. */
    static float geluArgumentSlope(float x) {
        return GELU_SCALE * Fused.fma(GELU_CUBIC_SLOPE, x * x, 1f);
    }
}
