package io.github.tornadotransformers.benchmarks;

/**
 * How fast a model ran a test on an engine.
 *
 * @param device where, in words
 * @param threads of a host engine; 0 on a device
 * @param tokensPerSecond one for each repetition
 * @param bytesPerSecond weights and cache
 * @param operationsPerSecond of float32
 * @param limits the machine's, measured beside each repetition; not a number where the engine is not the processor
 */
public record ModelRow(
        String model,
        long parameters,
        long weightBytes,
        String engine,
        String device,
        String dtype,
        int threads,
        BenchTest test,
        Samples tokensPerSecond,
        double bytesPerSecond,
        double operationsPerSecond,
        Limits limits)
        implements BenchRow {
    @Override
    public String key() {
        String where = threads == 0 ? device : threads + " threads";
        return String.join(" ", model, engine, where, dtype, test.name());
    }

    @Override
    public Samples speed() {
        return tokensPerSecond;
    }

    /** Of the bandwidth that was there while the test ran. */
    public double readShare() {
        return bytesPerSecond / limits.readBytesPerSecond();
    }

    /** Of the peak of fused products and sums. */
    public double operationShare() {
        return operationsPerSecond / limits.operationsPerSecond();
    }
}
