package io.github.tornadotransformers.models;

import java.util.Locale;

/** A number of bytes in the unit that suits it, so that little is not shown as none. */
public final class ByteCount {
    private static final int DECIMAL_STEP = 1000;
    private static final String[] DECIMAL = {"kB", "MB", "GB", "TB", "PB", "EB"};
    private static final int BINARY_STEP = 1024;
    private static final String[] BINARY = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    private ByteCount() {}

    /** As sizes of files are given: {@code 548.1 MB}. */
    public static String words(long bytes) {
        return words(bytes, DECIMAL_STEP, DECIMAL);
    }

    /** As sizes of memory are given: {@code 7.8 GiB}. */
    public static String binaryWords(long bytes) {
        return words(bytes, BINARY_STEP, BINARY);
    }

    private static String words(long bytes, int step, String[] units) {
        if (bytes < step) {
            return bytes == 1 ? "1 byte" : bytes + " bytes";
        }
        double amount = (double) bytes / step;
        int unit = 0;
        while (amount >= step - 0.05 && unit < units.length - 1) { // it would be shown as 1000.0
            amount /= step;
            unit++;
        }
        return String.format(Locale.ROOT, "%.1f %s", amount, units[unit]);
    }
}
