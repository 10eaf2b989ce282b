package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.runner.console.Console;
import java.util.Locale;
import java.util.OptionalLong;

/** Says on stderr how far the download of a file is: in place on a terminal, once at the end elsewhere. */
final class Progress implements AutoCloseable {
    private static final long INTERVAL_NANOS = 200_000_000;
    private static final double MEGABYTE = 1e6;

    /** What terminals take as an order to clear the line behind the cursor. */
    private static final String CLEAR_REST = "\033[K";

    private final Console console;
    private final String file;
    private final OptionalLong size;
    private final long started = System.nanoTime();
    private final long startedBytes;
    private long bytes;
    private long shown;

    Progress(Console console, String file, long startedBytes, OptionalLong size) {
        this.console = console;
        this.file = file;
        this.startedBytes = startedBytes;
        bytes = startedBytes;
        this.size = size;
    }

    void update(long bytesNow) {
        bytes = bytesNow;
        long now = System.nanoTime();
        if (console.terminal() && now - shown > INTERVAL_NANOS) {
            shown = now;
            console.err().print("\r" + line(now) + CLEAR_REST);
            console.err().flush();
        }
    }

    /** Says how far it came. */
    @Override
    public void close() {
        console.err().println((console.terminal() ? "\r" + CLEAR_REST : "") + line(System.nanoTime()));
    }

    private String line(long now) {
        double seconds = (now - started) / 1e9;
        String total = size.isPresent() ? String.format(Locale.ROOT, " of %.1f", size.getAsLong() / MEGABYTE) : "";
        double rate = seconds > 0 ? (bytes - startedBytes) / MEGABYTE / seconds : 0;
        return String.format(Locale.ROOT, "%-28s %.1f%s MB, %.1f MB/s", file, bytes / MEGABYTE, total, rate);
    }
}
