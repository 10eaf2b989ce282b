package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.checkpoint.DType;

/**
 * How far a value may lie from the expected one: {@code |a - b| <= atol + rtol |b|}, or not a bit where exact. A value that is
 * not finite is as far as can be from all but its like: NaN (whatever its bits) from NaN, an infinity from the same one.
 *
 * @param exact whether only equal bits pass
 */
public record Tolerance(boolean exact, double rtol, double atol) {
    /** What the contract promises among strict engines, whatever the type. */
    public static final Tolerance EXACT = new Tolerance(true, 0, 0);

    /**
     * Against an implementation in double: float32 rounding errors of some 10^-7 grow through layers and sums of thousands
     * of terms; 3e-4 is what public ports of GPT-2 hold their logits to, and the largest difference measured here is far
     * below it.
     */
    public static final Tolerance GOLDEN = new Tolerance(false, 3e-4, 3e-4);

    public Tolerance {
        if (!(rtol >= 0 && rtol < Double.POSITIVE_INFINITY && atol >= 0 && atol < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(
                    "a tolerance must be a number of at least 0, not rtol " + rtol + ", atol " + atol);
        }
    }

    /**
     * What fast mode may differ from strict mode by. Weights are widened exactly in every mode, so the types differ only in
     * how large activations and their sums become: fused and reordered float32 sums stay within some hundred ulps of the
     * largest term, and devices that multiply float16 weights in half precision lose 11 of 24 bits.
     */
    public static Tolerance fast(DType dtype) {
        return switch (dtype) {
            case F32, BF16, INT8, STORED -> new Tolerance(false, 1e-3, 1e-3);
            case F16 -> new Tolerance(false, 2e-2, 2e-2);
        };
    }

    boolean accepts(float actual, float expected) {
        return exact
                ? Float.floatToIntBits(actual) == Float.floatToIntBits(expected)
                : accepts((double) actual, expected);
    }

    boolean accepts(double actual, double expected) {
        return Double.isFinite(actual) && Double.isFinite(expected)
                ? Math.abs(actual - expected) <= atol + rtol * Math.abs(expected)
                : areAlikeButNotFinite(actual, expected);
    }

    /** Both NaN, or the same infinity. */
    static boolean areAlikeButNotFinite(double a, double b) {
        return !Double.isFinite(a) && Double.compare(a, b) == 0;
    }

    @Override
    public String toString() {
        return exact ? "bit for bit" : "rtol " + rtol + ", atol " + atol;
    }
}
