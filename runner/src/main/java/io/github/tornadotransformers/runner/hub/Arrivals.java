package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.runner.console.Progress;
import io.github.tornadotransformers.runner.console.StatusLine;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/** How much of what is downloaded is here, files that come at the same time together. Safe for use by several threads. */
final class Arrivals implements AutoCloseable {
    private final AtomicLong bytes;
    private final Progress progress;

    private Arrivals(long first, Progress progress) {
        this.bytes = new AtomicLong(first);
        this.progress = progress;
    }

    /**
     * @param work what is downloaded, in words
     * @param first bytes that are here already
     * @param total empty where nobody knows
     */
    static Arrivals of(StatusLine line, String work, long first, OptionalLong total) {
        return new Arrivals(first, Progress.of(line, work, Progress.Unit.BYTES, first, total));
    }

    /** @param more negative where something was thrown away */
    void add(long more) {
        progress.update(bytes.addAndGet(more));
    }

    @Override
    public void close() {
        progress.close();
    }
}
