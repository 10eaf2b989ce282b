package io.github.tornadotransformers.benchmarks;

import java.util.function.IntToDoubleFunction;

/**
 * Measures this machine's limits with code of our own. Neighbours on the machine change them from one moment to the next, so
 * they are taken anew beside every figure that is held against them.
 */
public final class Roofline implements AutoCloseable {
    private static final long MILLISECOND = 1_000_000;

    private static final long SAMPLE_NANOS = 50 * MILLISECOND;
    private static final int SAMPLES = 5;

    /** Samples until the JVM has compiled a loop: as many as it takes, this many in a row that were no better, but no more. */
    static final int SETTLED = 3;

    private static final double NOISE = 0.05;
    private static final int MOST_WARM_UP_SAMPLES = 30;

    private final StreamingRead memory;
    private final MultiplyAdd arithmetic = new MultiplyAdd();
    private final long sampleNanos;

    /** Takes memory of several times the last-level cache, and a second or so to warm up. */
    public Roofline() {
        this(new StreamingRead(), SAMPLE_NANOS);
    }

    Roofline(StreamingRead memory, long sampleNanos) {
        this.memory = memory;
        this.sampleNanos = sampleNanos;
        warmUp(this::readBytesPerSecond);
        warmUp(this::operationsPerSecond);
    }

    private static void warmUp(IntToDoubleFunction sample) {
        double best = 0;
        int settled = 0;
        for (int i = 0; i < MOST_WARM_UP_SAMPLES && settled < SETTLED; i++) {
            double now = sample.applyAsDouble(1);
            settled = now > best * (1 + NOISE) ? 0 : settled + 1;
            best = Math.max(best, now);
        }
    }

    /** The best of several samples. */
    public Limits measure(int threads) {
        return new Limits(threads, best(this::readBytesPerSecond, threads), best(this::operationsPerSecond, threads));
    }

    private static double best(IntToDoubleFunction sample, int threads) {
        double best = 0;
        for (int i = 0; i < SAMPLES; i++) {
            best = Math.max(best, sample.applyAsDouble(threads));
        }
        return best;
    }

    /** One sample, now. */
    public double readBytesPerSecond(int threads) {
        return Crew.perSecond(threads, sampleNanos, thread -> memory.pass(thread, threads));
    }

    /** One sample, now. */
    public double operationsPerSecond(int threads) {
        return Crew.perSecond(threads, sampleNanos, _ -> arithmetic.pass());
    }

    @Override
    public void close() {
        memory.close();
    }
}
