package io.github.tornadotransformers.kernels;

/**
 * The contract's transcendental functions in what every device compiles: {@code + - *}, selections, a fixed loop, and
 * division in double. No bit casts, no early returns. Error: 0 ulp against the oracle for every float.
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
        float n = (x * LOG2_E + ROUNDING) - ROUNDING;
        float r = (x - n * LN2_HIGH) - n * LN2_LOW;
        float p = P0;
        p = p * r + P1;
        p = p * r + P2;
        p = p * r + P3;
        p = p * r + P4;
        p = p * r + P5;
        float polynomial = (p * (r * r) + r) + 1f;
        int raised = ((int) n - LEAST_EXPONENT) & EXPONENTS;
        int half = raised / 2;
        float power = powerOfTwo(half);
        float otherPower = raised - 2 * half == 1 ? power * 2f : power;
        float result = polynomial * power * otherPower;
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

    /** GELU's {@code u = sqrt(2/pi) (x + 0.044715 x^3)}, arXiv:1606.08415. */
    static float geluArgument(float x) {
        return GELU_SCALE * (x + GELU_CUBIC * (x * x * x));
    }

    /** The derivative of {@link #geluArgument}. */
    static float geluArgumentSlope(float x) {
        return GELU_SCALE * (1f + GELU_CUBIC_SLOPE * (x * x));
    }

    /** {@code a / b}, correctly rounded where the device's own float division is not (PTX). */
    static float quotient(float a, float b) {
        return (float) ((double) a / (double) b);
    }

    /** {@code 1 / sqrt(x + epsilon)} in double, rounded once. */
    static float inverseRoot(float x, float epsilon) {
        return (float) (1.0 / Math.sqrt((double) x + (double) epsilon));
    }
}
