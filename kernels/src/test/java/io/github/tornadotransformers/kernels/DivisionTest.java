package io.github.tornadotransformers.kernels;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Quotients are Java's, and inverse roots those of double rounded once (the host's tests show that these are right). */
class DivisionTest {
    private static final int SIGNIFICAND = 0x7FFFFF;
    private static final int ONE = 0x3F800000;
    private static final int BITS = 24;

    /** Odd numerators of this size and less lie next to the middle of two floats. */
    private static final int NEXT_TO_THE_MIDDLE = 7;

    private static final float[] SPECIAL = {
        0f,
        Float.MIN_VALUE,
        3 * Float.MIN_VALUE,
        Math.nextDown(Float.MIN_NORMAL),
        Float.MIN_NORMAL,
        Math.nextDown(0x1p-48f),
        0x1p-48f,
        Math.nextDown(1f),
        1f,
        Math.nextUp(1f),
        Math.nextDown(2f),
        Math.nextDown(0x1p48f),
        0x1p48f,
        Math.nextDown(Float.MAX_VALUE),
        Float.MAX_VALUE,
        Float.POSITIVE_INFINITY,
        Float.NaN
    };

    @Test
    void quotientsOfSpecialNumbers() {
        for (float a : SPECIAL) {
            for (float b : SPECIAL) {
                requireQuotient(a, b);
                requireQuotient(-a, b);
                requireQuotient(a, -b);
                requireQuotient(-a, -b);
            }
        }
    }

    @Test
    void quotientsOfAnyBits() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 40_000_000; i++) {
            long bits = random.nextLong();
            requireQuotient(Float.intBitsToFloat((int) bits), Float.intBitsToFloat((int) (bits >>> 32)));
        }
    }

    /** Of which many lie in the middle of two subnormal numbers, or next to it. */
    @Test
    void subnormalQuotients() {
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < 20_000_000; i++) {
            int exponent = random.nextInt(-20, 100);
            float b = Math.scalb(random.nextInt(1, 1 << random.nextInt(1, BITS)), exponent);
            int halves = random.nextInt(1 << random.nextInt(1, BITS));
            float a = (float) (Math.scalb((double) halves, -150) * b);
            int step = random.nextInt(-1, 2);
            requireQuotient(a, b);
            requireQuotient(Float.intBitsToFloat(Math.max(Float.floatToRawIntBits(a) + step, 0)), b);
        }
    }

    @Test
    void quotientsByAnyEstimate() {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 200_000_000; i++) {
            long bits = random.nextLong();
            float a = Float.intBitsToFloat(ONE | (int) bits & SIGNIFICAND);
            float b = Float.intBitsToFloat(ONE | (int) (bits >>> 23) & SIGNIFICAND);
            requireQuotient(a, b, (int) (bits >>> 46) % 9 - 4);
        }
    }

    /** For every odd divisor, quotients that are nearest to the middle of two floats: {@code middle * b + offset = a * 2^bits}. */
    @Test
    void hardQuotients() {
        for (int b = (1 << 23) + 1; b < 1 << BITS; b += 2) {
            long inverse = b;
            for (int step = 0; step < 5; step++) {
                inverse *= 2 - b * inverse;
            }
            for (int offset = -NEXT_TO_THE_MIDDLE; offset <= NEXT_TO_THE_MIDDLE; offset += 2) {
                long middle = -offset * inverse & (1L << BITS) - 1 | 1L << BITS;
                int a = (int) (middle * b + offset >> BITS);
                if (a < 1 << BITS) {
                    requireQuotient(a, b, 0);
                    requireQuotient(a, b, b % 9 - 4);
                }
            }
        }
    }

    /** By each estimate within 8 ulp, of all numbers of two neighbouring exponents: any other is one of them times a power of 4. */
    @Test
    void allInverseRoots() {
        for (int bits = ONE; bits < ONE + (2 << 23); bits++) {
            float x = Float.intBitsToFloat(bits);
            float expected = (float) (1 / Math.sqrt(x));
            for (int ulps = -8; ulps <= 8; ulps++) {
                float root = Division.inverseRoot(x, away(expected, ulps));
                if (root != expected) {
                    throw new AssertionError("inverse root of " + x + " by an estimate " + ulps + " ulp off: " + root);
                }
            }
        }
    }

    @Test
    void inverseRootsOfEveryExponent() {
        for (long bits = 0; bits < 1L << 32; bits += 251) {
            requireInverseRoot(Float.intBitsToFloat((int) bits));
        }
        for (float x : SPECIAL) {
            requireInverseRoot(x);
            requireInverseRoot(-x);
        }
    }

    private static float away(float x, int ulps) {
        return Float.intBitsToFloat(Float.floatToRawIntBits(x) + ulps);
    }

    private static void requireQuotient(float a, float b) {
        float quotient = Division.quotient(a, b);
        if (Float.floatToIntBits(quotient) != Float.floatToIntBits(a / b)) {
            throw new AssertionError(a + " / " + b + ": " + quotient + " instead of " + a / b);
        }
    }

    private static void requireQuotient(float a, float b, int ulps) {
        float quotient = Division.quotient(a, b, away(1 / b, ulps));
        if (quotient != a / b) {
            throw new AssertionError(a + " / " + b + " by an estimate " + ulps + " ulp off: " + quotient);
        }
    }

    private static void requireInverseRoot(float x) {
        float root = Division.inverseRoot(x);
        float expected = (float) (1 / Math.sqrt(x));
        if (Float.floatToIntBits(root) != Float.floatToIntBits(expected)) {
            throw new AssertionError("inverse root of " + x + ": " + root + " instead of " + expected);
        }
    }
}
