package io.github.tornadotransformers.runner.console;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a command end cleanly on Ctrl-C: {@link #requested} turns true, and the JVM waits until the command has
 * {@linkplain #close closed} this, but not for ever, before it ends with exit code 130.
 */
public final class Interruption implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 10;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::onShutdown, "interruption");
    private volatile boolean requested;

    private Interruption() {}

    public static Interruption watch() {
        Interruption interruption = new Interruption();
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
        try {
            boolean _ = closed.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
