package io.github.tornadotransformers.runner.hub;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/** Closes a stream from which nothing has come for too long, so that its reader gets an error instead of waiting for ever. */
final class StallGuard implements AutoCloseable {
    private final InputStream stream;
    private final long patienceNanos;
    private final Thread watcher = Thread.ofVirtual().unstarted(this::watch);
    private volatile long lastProgress = System.nanoTime();

    private StallGuard(InputStream stream, Duration patience) {
        this.stream = stream;
        this.patienceNanos = patience.toNanos();
    }

    static StallGuard over(InputStream stream, Duration patience) {
        StallGuard guard = new StallGuard(stream, patience);
        guard.watcher.start();
        return guard;
    }

    /** Something has come. */
    void progress() {
        lastProgress = System.nanoTime();
    }

    @Override
    public void close() {
        watcher.interrupt();
    }

    private void watch() {
        try {
            long rest = patienceNanos;
            while (rest > 0) {
                Thread.sleep(Duration.ofNanos(rest));
                rest = lastProgress + patienceNanos - System.nanoTime();
            }
            stream.close();
        } catch (InterruptedException _) {
            // The download has ended.
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
