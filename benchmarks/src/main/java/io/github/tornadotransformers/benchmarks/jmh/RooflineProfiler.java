package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.Limits;
import io.github.tornadotransformers.benchmarks.Roofline;
import io.github.tornadotransformers.engine.VectorModule;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * Measures what the machine can do, in the benchmark's own JVM, with as many threads as the case, right before and right after
 * each measured iteration: neighbours on the machine change it from one moment to the next. A device is not the processor,
 * and has no such figures.
 */
public final class RooflineProfiler implements InternalProfiler {
    static final String READ = "readLimit";
    static final String COMPUTE = "computeLimit";
    static final double GIGA = 1e9;

    private Limits before;

    /** Made when the JVM first asks, and kept until it ends. */
    private static final class Shared {
        private static final Roofline ROOFLINE = open();

        private static Roofline open() {
            VectorModule.require();
            return new Roofline();
        }
    }

    @Override
    public String getDescription() {
        return "The memory's read bandwidth and the peak of fused products and sums, beside each iteration";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        int threads = threads(benchmark);
        if (threads > 0) {
            before = sample(threads); // before a warm-up, too: the loops of the roofline warm up as well
        }
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        int threads = threads(benchmark);
        if (threads == 0 || iteration.getType() != IterationType.MEASUREMENT) {
            return List.of();
        }
        Limits after = sample(threads);
        return List.of(
                limit(READ, before.readBytesPerSecond(), after.readBytesPerSecond(), "GB/s"),
                limit(COMPUTE, before.operationsPerSecond(), after.operationsPerSecond(), "GFLOP/s"));
    }

    private static ScalarResult limit(String name, double before, double after, String unit) {
        return new ScalarResult(name, (before + after) / 2 / GIGA, unit, AggregationPolicy.AVG);
    }

    private Limits sample(int threads) {
        Roofline roofline = Shared.ROOFLINE;
        return new Limits(threads, roofline.readBytesPerSecond(threads), roofline.operationsPerSecond(threads));
    }

    private static int threads(BenchmarkParams benchmark) {
        return Case.parse(
                        benchmark.getParam(benchmark.getParamsKeys().iterator().next()))
                .threads();
    }
}
