package io.github.tornadotransformers.testsupport;

/** The error function in double, to its last digits but a few. */
public final class Float64Erf {
    /** Beyond it, erf is 1 in double. */
    private static final double ONE = 6;

    private Float64Erf() {}

    /**
     * {@code 2/sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (2n+1)!!}: no term of the sum has another sign than x, so that nothing
     * is lost.
     *
     * <p>Source: Abramowitz and Stegun 1964, 7.1.6.
     */
    public static double erf(double x) {
        if (Math.abs(x) > ONE) {
            return Math.signum(x);
        }
        double term = x;
        double sum = 0;
        for (int n = 0; Math.abs(term) > Math.abs(sum) * 1e-18; n++) {
            sum += term;
            term *= 2 * x * x / (2 * n + 3);
        }
        return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
    }
}
