package io.github.tornadotransformers.benchmarks;

/**
 * The part of an Op, of all layers, in the time of a test.
 *
 * @param op its name; {@link #SUM} for all Ops together, {@link #WHOLE} for the test without a clock between its Ops
 * @param calls how often it runs in the test
 * @param seconds of all calls; one for each repetition
 * @param cost of all calls
 * @param share of the whole test's time
 * @param limits the machine's, measured beside each repetition
 */
public record ProfileRow(
        String model,
        String engine,
        String dtype,
        int threads,
        BenchTest test,
        String op,
        int calls,
        Samples seconds,
        OpCost cost,
        double share,
        Limits limits)
        implements BenchRow {
    static final String SUM = "sum";
    static final String WHOLE = "whole, without clocks";

    @Override
    public String key() {
        return String.join(" ", model, engine, threads + " threads", dtype, test.name(), op);
    }

    /** Tests a second, if the Op were all. */
    @Override
    public Samples speed() {
        return new Samples(seconds.values().stream().map(each -> 1 / each).toList());
    }

    /** Tokens that are decoded one by one, or the one prompt. */
    private int passes() {
        return test.phase() == BenchTest.Phase.DECODE ? test.tokens() : 1;
    }

    /** For a decoded token, or for the prompt. */
    public double secondsOfPass() {
        return seconds.mean() / passes();
    }

    /** For a decoded token, or for the prompt. */
    public int callsOfPass() {
        return calls / passes();
    }

    public double bytesPerSecond() {
        return cost.bytes() / seconds.mean();
    }

    public double operationsPerSecond() {
        return cost.operations() / seconds.mean();
    }
}
