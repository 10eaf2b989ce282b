package io.github.tornadotransformers.testsupport;

/** Float arrays compared by their bits; a difference is reported with its index, both values and their distance. */
public final class Bits {
    private Bits() {}

    public static void assertSame(String what, float[] actual, float[] expected) {
        assertSame(what, actual, expected, expected.length);
    }

    /** Compares the first {@code count} elements. All NaNs count as one value. */
    public static void assertSame(String what, float[] actual, float[] expected, int count) {
        int differing = 0;
        int first = -1;
        for (int i = 0; i < count; i++) {
            if (Float.floatToIntBits(actual[i]) != Float.floatToIntBits(expected[i])) {
                differing++;
                first = first < 0 ? i : first;
            }
        }
        if (differing > 0) {
            throw new AssertionError(what + ": " + differing + " of " + count + " elements differ, first at " + first
                    + ": " + actual[first] + " instead of " + expected[first] + ", "
                    + ulps(actual[first], expected[first])
                    + " ulp");
        }
    }

    /** {@code |actual - expected| <= atol + rtol |expected|} for every element; NaN fails. */
    public static void assertClose(String what, float[] actual, double[] expected, double rtol, double atol) {
        for (int i = 0; i < expected.length; i++) {
            double difference = Math.abs(actual[i] - expected[i]);
            if (!(difference <= atol + rtol * Math.abs(expected[i]))) {
                throw new AssertionError(what + " at " + i + ": " + actual[i] + " instead of " + expected[i]
                        + ", difference " + difference);
            }
        }
    }

    /** How many floats lie between two; {@link Long#MAX_VALUE} where one is NaN. */
    public static long ulps(float a, float b) {
        if (Float.isNaN(a) || Float.isNaN(b)) {
            return Long.MAX_VALUE;
        }
        return Math.abs(ordered(a) - ordered(b));
    }

    private static long ordered(float x) {
        int bits = Float.floatToRawIntBits(x);
        return bits < 0 ? (long) Integer.MIN_VALUE - bits : bits;
    }
}
