package io.github.tornadotransformers.runner.console;

import io.github.tornadotransformers.models.ByteCount;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * How far a piece of work is, on the terminal's last line once it has taken a second: percent, rate and time left. Nothing
 * where nobody watches.
 */
public final class Progress implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final Duration INTERVAL = Duration.ofMillis(200);
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int SECONDS_PER_MINUTE = 60;
    private static final int MINUTES_PER_HOUR = 60;

    private final StatusLine line;
    private final String work;
    private final Unit unit;
    private final OptionalLong total;
    private final long first;
    private final long started = System.nanoTime();
    private final Thread clock = Thread.ofVirtual().unstarted(this::showAgainAndAgain);
    private volatile long done;
    private boolean closed;

    /** What is counted. */
    public enum Unit {
        BYTES {
            @Override
            String words(double amount) {
                return ByteCount.words(Math.round(amount));
            }
        },
        TOKENS {
            @Override
            String words(double amount) {
                return String.format(Locale.ROOT, amount == Math.rint(amount) ? "%.0f tokens" : "%.1f tokens", amount);
            }
        };

        abstract String words(double amount);
    }

    private Progress(StatusLine line, String work, Unit unit, long first, OptionalLong total) {
        this.line = line;
        this.work = work;
        this.unit = unit;
        this.first = first;
        this.done = first;
        this.total = total;
    }

    /**
     * @param work what is done, in words
     * @param first what is done already
     * @param total empty where nobody knows
     */
    public static Progress of(StatusLine line, String work, Unit unit, long first, OptionalLong total) {
        Progress progress = new Progress(line, work, unit, first, total);
        if (line.isTerminal()) {
            progress.clock.start();
        }
        return progress;
    }

    /** Of work that begins at 0. */
    public static Progress of(StatusLine line, String work, Unit unit, long total) {
        return of(line, work, unit, 0, OptionalLong.of(total));
    }

    /** @param now of the total, what was done before included */
    public void update(long now) {
        done = now;
    }

    /** Clears the line. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            clock.interrupt();
            line.clear();
        }
    }

    private void showAgainAndAgain() {
        try {
            Thread.sleep(PATIENCE);
            while (show()) {
                Thread.sleep(INTERVAL);
            }
        } catch (InterruptedException _) {
            // The work is done.
        }
    }

    private synchronized boolean show() {
        if (!closed) {
            line.show(words(System.nanoTime() - started));
        }
        return !closed;
    }

    /** How far it is after so long, the rate and what that means for the rest. */
    public String words(long elapsedNanos) {
        long now = done;
        StringBuilder words = new StringBuilder(work).append(": ");
        if (total.isPresent() && total.getAsLong() > 0) {
            words.append(100 * now / total.getAsLong()).append(" % of ").append(unit.words((double) total.getAsLong()));
        } else {
            words.append(unit.words((double) now));
        }
        double perSecond = (now - first) * NANOS_PER_SECOND / Math.max(1, elapsedNanos);
        if (perSecond > 0) {
            words.append(", ").append(unit.words(perSecond)).append("/s");
            total.ifPresent(all -> words.append(", ")
                    .append(clock(Math.round(Math.max(0, all - now) / perSecond)))
                    .append(" left"));
        }
        return words.toString();
    }

    private static String clock(long seconds) {
        long minutes = seconds / SECONDS_PER_MINUTE;
        return minutes < MINUTES_PER_HOUR
                ? String.format(Locale.ROOT, "%d:%02d", minutes, seconds % SECONDS_PER_MINUTE)
                : String.format(
                        Locale.ROOT,
                        "%d:%02d:%02d",
                        minutes / MINUTES_PER_HOUR,
                        minutes % MINUTES_PER_HOUR,
                        seconds % SECONDS_PER_MINUTE);
    }
}
