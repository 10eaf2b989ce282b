package io.github.tornadotransformers.runner.verify;

/**
 * How two arrays of the same meaning differ: counts and the largest distances. It grows as arrays are compared. Elements that are
 * NaN or the same infinity in both do not differ.
 */
public final class Differences {
    private final Tolerance tolerance;
    private long elements;
    private long differing;
    private long refused;
    private long largestUlps;
    private double largestAbsolute;
    private double largestRelative;

    Differences(Tolerance tolerance) {
        this.tolerance = tolerance;
    }

    /** Compares one element; says whether the tolerance accepts it. */
    boolean compare(float actual, float expected) {
        elements++;
        boolean accepted = tolerance.accepts(actual, expected);
        refused += accepted ? 0 : 1;
        if (Float.floatToIntBits(actual) != Float.floatToIntBits(expected)) {
            differing++;
            widen(actual, expected, ulps(actual, expected));
        }
        return accepted;
    }

    /** As for floats, against a value of higher precision; distances in ulps are those of its nearest float. */
    boolean compare(float actual, double expected) {
        elements++;
        boolean accepted = tolerance.accepts((double) actual, expected);
        refused += accepted ? 0 : 1;
        if (Tolerance.areAlikeButNotFinite(actual, expected)) {
            return accepted;
        }
        if (actual != (float) expected) {
            differing++;
        }
        widen(actual, expected, ulps(actual, (float) expected));
        return accepted;
    }

    private void widen(double actual, double expected, long ulps) {
        double absolute = Math.abs(actual - expected);
        double relative = absolute == 0 ? 0 : absolute / Math.max(Math.abs(actual), Math.abs(expected));
        largestUlps = Math.max(largestUlps, ulps);
        largestAbsolute = largest(largestAbsolute, absolute);
        largestRelative = largest(largestRelative, relative);
    }

    /** The larger one, NaN and infinite distances above all. */
    private static double largest(double a, double b) {
        return Double.isNaN(b) ? Double.POSITIVE_INFINITY : Math.max(a, b);
    }

    /** How many floats lie between two; {@link Long#MAX_VALUE} where one is NaN. */
    static long ulps(float a, float b) {
        if (Float.isNaN(a) || Float.isNaN(b)) {
            return Long.MAX_VALUE;
        }
        return Math.abs(ordered(a) - ordered(b));
    }

    /** Floats in their order as integers; the two zeros are neighbours. */
    private static long ordered(float x) {
        int bits = Float.floatToRawIntBits(x);
        return bits < 0 ? -1L - (bits & Integer.MAX_VALUE) : bits;
    }

    public long elements() {
        return elements;
    }

    /** Elements whose bits differ, accepted or not. */
    public long differing() {
        return differing;
    }

    /** Elements that the tolerance does not accept. */
    public long refused() {
        return refused;
    }

    public long largestUlps() {
        return largestUlps;
    }

    public double largestAbsolute() {
        return largestAbsolute;
    }

    public double largestRelative() {
        return largestRelative;
    }
}
