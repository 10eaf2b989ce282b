package io.github.tornadotransformers.benchmarks;

import java.util.Locale;

/**
 * How fast an Op ran on an engine.
 *
 * @param seconds of one run, one for each repetition
 * @param limits the machine's, measured beside the repetitions; not a number where the engine is not the processor
 */
public record KernelRow(
        String model,
        BenchTest.Phase phase,
        KernelShape shape,
        String engine,
        int threads,
        Samples seconds,
        Limits limits)
        implements BenchRow {
    @Override
    public String key() {
        return String.join(
                " ", model, shape.name(), shape.words(), dtype(), engine, threads == 0 ? "" : threads + " threads");
    }

    /** Runs a second. */
    @Override
    public Samples speed() {
        return new Samples(seconds.values().stream().map(each -> 1 / each).toList());
    }

    public String dtype() {
        return shape.dtype().toString().toLowerCase(Locale.ROOT);
    }

    public double bytesPerSecond() {
        return shape.cost().bytes() / seconds.mean();
    }

    public double operationsPerSecond() {
        return shape.cost().operations() / seconds.mean();
    }

    /** The least time on this machine as a share of the time that was taken; not a number where none is known. */
    public double share() {
        double least = shape.leastSeconds(limits);
        return least > 0 ? least / seconds.mean() : Double.NaN;
    }

    /** What sets the least time: memory, arithmetic, or nothing that was measured. */
    public String bound() {
        double least = shape.leastSeconds(limits);
        if (!(least > 0)) {
            return Figures.NONE;
        }
        return least > shape.cost().operations() / limits.operationsPerSecond() ? "memory" : "arithmetic";
    }
}
