package io.github.tornadotransformers.runner.console;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a command end cleanly on Ctrl-C: {@link #requested} turns true, and the JVM waits until the command has
 * {@linkplain #close closed} this, but not for ever, before it ends with exit code 130. A second Ctrl-C ends it at once.
 */
public final class Interruption implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** What takes longer is told to the user. */
    private static final Duration UNNOTICED = Duration.ofMillis(500);

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::onShutdown, "interruption");
    private volatile boolean requested;

    private final Duration patience;
    private final Runnable notice;

    private Interruption(Duration patience, Runnable notice) {
        this.patience = patience;
        this.notice = notice;
    }

    /** With the patience for what ends after a token. */
    public static Interruption watch() {
        return watch(PATIENCE, () -> {});
    }

    /**
     * @param patience how long the JVM waits for the command to close this
     * @param notice tells the user what it waits for, if that takes a while
     */
    public static Interruption watch(Duration patience, Runnable notice) {
        Interruption interruption = new Interruption(patience, notice);
        Runtime.getRuntime().addShutdownHook(interruption.hook);
        return interruption;
    }

    public boolean requested() {
        return requested;
    }

    @Override
    public void close() {
        closed.countDown();
        if (!requested) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                requested = true; // the JVM has just begun to end
            }
        }
    }

    private void onShutdown() {
        requested = true;
        SecondSignal.endsTheProcess();
        try {
            if (!closed.await(UNNOTICED.toMillis(), TimeUnit.MILLISECONDS)) {
                notice.run();
                boolean _ = closed.await(patience.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
