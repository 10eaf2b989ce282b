package io.github.tornadotransformers.runner.console;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Says what is being done where that takes long; silent otherwise. */
public final class SlowNotice implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final CountDownLatch done = new CountDownLatch(1);
    private final Thread thread;

    private SlowNotice(Consumer<String> sink, Duration patience, Supplier<String> line) {
        thread = Thread.ofPlatform().daemon().name("slow-notice").start(() -> {
            if (!isDoneWithin(patience)) {
                sink.accept(line.get());
            }
        });
    }

    /**
     * Says {@code line} if this is not closed within a second.
     *
     * @param sink gets the line, from another thread
     * @param line made only if it is said
     */
    public static SlowNotice after(Consumer<String> sink, Supplier<String> line) {
        return after(PATIENCE, sink, line);
    }

    static SlowNotice after(Duration patience, Consumer<String> sink, Supplier<String> line) {
        return new SlowNotice(sink, patience, line);
    }

    private boolean isDoneWithin(Duration patience) {
        try {
            return done.await(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Nothing is said after this. */
    @Override
    public void close() {
        done.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
