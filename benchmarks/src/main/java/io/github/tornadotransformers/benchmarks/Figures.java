package io.github.tornadotransformers.benchmarks;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** Figures as a reader wants them. */
final class Figures {
    static final String NONE = "–";

    private static final double GIGA = 1e9;
    private static final double MEGA = 1e6;
    private static final double GIB = 1L << 30;
    private static final MathContext THREE = new MathContext(3);

    private Figures() {}

    /** Three significant digits, without an exponent; {@link #NONE} for what is not a number. */
    static String significant(double value) {
        if (!Double.isFinite(value)) {
            return NONE;
        }
        BigDecimal rounded = new BigDecimal(value).round(THREE);
        return rounded.scale() < 0 ? rounded.setScale(0).toPlainString() : rounded.toPlainString();
    }

    static String giga(double value) {
        return significant(value / GIGA);
    }

    static String percent(double share) {
        return Double.isFinite(share) ? String.format(Locale.ROOT, "%.0f %%", 100 * share) : NONE;
    }

    static String gibibytes(long bytes) {
        return String.format(Locale.ROOT, "%.2f GiB", bytes / GIB);
    }

    static String millions(long count) {
        return String.format(Locale.ROOT, "%.2f M", count / MEGA);
    }

    static String ratio(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
