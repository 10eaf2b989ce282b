package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.math.TornadoMath;

/**
 * Quotients and inverse roots in float32, correctly rounded on every device: the device's own, which may be some ulp off, are
 * estimates that fused steps correct. No double, which many devices lack. What the device answers for zeros, infinities and NaN
 * stands.
 *
 * <p>Source: P. Markstein, Computation of elementary functions on the IBM RISC System/6000 processor, 1990.
 */
final class Division {
    /** What is smaller or larger is scaled, so that no step meets a subnormal number or overflows. */
    private static final float SMALL = 0x1p-48f;

    private static final float LARGE = 0x1p48f;

    /** Their squares are what is scaled by. */
    private static final float RAISING = 0x1p48f;

    private static final float LOWERING = 0x1p-48f;

    /** 2^149 and its inverse, in two factors each: the least subnormal number becomes 1. */
    private static final float UNITS = 0x1p75f;

    private static final float MORE_UNITS = 0x1p74f;
    private static final float UNIT = 0x1p-75f;
    private static final float MORE_UNIT = 0x1p-74f;

    /** Adding and subtracting it rounds a number up to this one, which is not negative, to an integer, ties to even. */
    private static final float ROUNDING = 0x1p23f;

    private Division() {}

    /** {@code a / b}. */
    static float quotient(float a, float b) {
        float sizeOfA = a < 0f ? -a : a;
        float sizeOfB = b < 0f ? -b : b;
        float factorOfA = factor(sizeOfA);
        float factorOfB = factor(sizeOfB);
        float dividend = Fused.product(sizeOfA, factorOfA * factorOfA);
        float divisor = Fused.product(sizeOfB, factorOfB * factorOfB);
        float scaled = quotient(dividend, divisor, 1f / divisor);
        float rest = Fused.fma(Fused.negated(divisor), scaled, dividend);
        float back = factorOfB * inverseFactor(sizeOfA);
        float normal = Fused.product(scaled * back, back);
        float size = normal <= Float.MIN_NORMAL ? subnormal(scaled, back, rest) : normal;
        float result = (a < 0f) == (b < 0f) ? size : -size;
        float own = a / b;
        result = sizeOfA > 0f ? result : own;
        result = sizeOfA < Float.POSITIVE_INFINITY ? result : own;
        result = sizeOfB > 0f ? result : own;
        return sizeOfB < Float.POSITIVE_INFINITY ? result : own;
    }

    /** {@code 1 / sqrt(x)}. */
    static float inverseRoot(float x) {
        float factor = factor(x);
        float scaled = Fused.product(x, factor * factor);
        float result = Fused.product(inverseRoot(scaled, 1f / TornadoMath.sqrt(scaled)), factor);
        float own = 1f / TornadoMath.sqrt(x);
        result = x > 0f ? result : own;
        return x < Float.POSITIVE_INFINITY ? result : own;
    }

    /**
     * {@code a / b} of scaled numbers.
     *
     * @param estimate of {@code 1 / b}, at most 4 ulp off
     */
    static float quotient(float a, float b, float estimate) {
        float minus = Fused.negated(b);
        float inverse = Fused.fma(Fused.fma(minus, estimate, 1f), estimate, estimate);
        inverse = Fused.fma(Fused.fma(minus, inverse, 1f), inverse, inverse);
        // Where all bits of b are ones, this is a power of two, and its neighbour is nearer by a part that the step has
        // lost.
        inverse = Fused.fma(minus, inverse, 1f) < 0x1p-24f ? inverse : Fused.product(inverse, 1f + 0x1p-23f);
        float quotient = Fused.product(a, inverse);
        quotient = Fused.fma(Fused.fma(minus, quotient, a), inverse, quotient);
        return Fused.fma(Fused.fma(minus, quotient, a), inverse, quotient);
    }

    /**
     * {@code 1 / sqrt(x)} of a scaled number.
     *
     * @param estimate of it, at most 8 ulp off
     */
    static float inverseRoot(float x, float estimate) {
        return nearerRoot(x, nearerRoot(x, estimate));
    }

    /** {@code y + y (e/2 + 3/8 e^2)} with {@code e = 1 - x y^2}, which needs both halves of the product of x and y. */
    private static float nearerRoot(float x, float y) {
        float high = x * y;
        float low = Fused.fma(x, y, Fused.negated(high));
        float minus = Fused.negated(y);
        float e = Fused.fma(minus, low, Fused.fma(minus, high, 1f));
        return Fused.fma(Fused.fma(0.375f * e, e, Fused.product(0.5f, e)), y, y);
    }

    private static float factor(float size) {
        float factor = size < SMALL ? RAISING : 1f;
        return size >= LARGE ? LOWERING : factor;
    }

    private static float inverseFactor(float size) {
        float factor = size < SMALL ? LOWERING : 1f;
        return size >= LARGE ? RAISING : factor;
    }

    /**
     * A quotient that is rounded to a subnormal number, once: where it was rounded to the middle of two before, its rest decides.
     *
     * @param back its square is what the quotient is still to be scaled by
     * @param rest of the same sign as what the quotient lacks
     */
    private static float subnormal(float quotient, float back, float rest) {
        float units = (back * UNITS) * (back * MORE_UNITS);
        float whole = Fused.fma(quotient, units, ROUNDING) - ROUNDING;
        float fraction = Fused.fma(quotient, units, Fused.negated(whole));
        float above = fraction == 0.5f ? whole + 1f : whole;
        float below = fraction == -0.5f ? whole - 1f : whole;
        float nearest = rest > 0f ? above : whole;
        nearest = rest < 0f ? below : nearest;
        return Fused.product(nearest * UNIT, MORE_UNIT);
    }
}
