package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.host.HostOps;
import java.util.ArrayList;
import java.util.List;

/** Times single Ops on engines; each result is checked against the definition first. */
public final class KernelBench {
    private static final double NANOS = 1e9;

    /** A repetition runs an Op as often as it takes to make the clock's step and a neighbour's moment small. */
    private static final double LEAST_SAMPLE_SECONDS = 0.02;

    private static final int MOST_RUNS = 1 << 24;

    private final Roofline roofline;
    private final int repetitions;
    private final double warmUpSeconds;

    /**
     * @param repetitions 1 or more
     * @param warmUpSeconds how long an Op runs untimed first, at least once
     */
    public KernelBench(Roofline roofline, int repetitions, double warmUpSeconds) {
        this.roofline = roofline;
        this.repetitions = repetitions;
        this.warmUpSeconds = warmUpSeconds;
    }

    /**
     * @param threads of the engine
     * @throws BenchmarkException if the engine's result is not the definition's, to the bit
     */
    public KernelRow run(
            String model, BenchTest.Phase phase, OpCase each, EngineKind engine, HostOps ops, int threads) {
        each.requireRight(engine.toString(), ops, _ -> {});
        warmUp(each, ops);
        int runs = runsOfSample(each, ops);
        Limits before = sample(threads);
        List<Double> seconds = new ArrayList<>();
        for (int i = 0; i < repetitions; i++) {
            seconds.add(seconds(each, ops, runs));
        }
        Limits after = sample(threads);
        Limits limits = new Limits(
                threads,
                (before.readBytesPerSecond() + after.readBytesPerSecond()) / 2,
                (before.operationsPerSecond() + after.operationsPerSecond()) / 2);
        return new KernelRow(model, phase, each.shape(), engine.toString(), threads, new Samples(seconds), limits);
    }

    private Limits sample(int threads) {
        return new Limits(threads, roofline.readBytesPerSecond(threads), roofline.operationsPerSecond(threads));
    }

    private void warmUp(OpCase each, HostOps ops) {
        long begun = System.nanoTime();
        do {
            each.run(ops);
        } while (System.nanoTime() - begun < warmUpSeconds * NANOS);
    }

    private static int runsOfSample(OpCase each, HostOps ops) {
        int runs = 1;
        while (runs < MOST_RUNS && seconds(each, ops, runs) * runs < LEAST_SAMPLE_SECONDS) {
            runs *= 2;
        }
        return runs;
    }

    /** Seconds of one run, on average. */
    private static double seconds(OpCase each, HostOps ops, int runs) {
        long begun = System.nanoTime();
        for (int i = 0; i < runs; i++) {
            each.run(ops);
        }
        return (System.nanoTime() - begun) / NANOS / runs;
    }
}
