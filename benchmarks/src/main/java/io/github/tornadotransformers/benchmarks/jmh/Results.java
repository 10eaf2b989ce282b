package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.BenchReport;
import io.github.tornadotransformers.benchmarks.BenchRow;
import io.github.tornadotransformers.benchmarks.BenchTest;
import io.github.tornadotransformers.benchmarks.KernelRow;
import io.github.tornadotransformers.benchmarks.KernelShape;
import io.github.tornadotransformers.benchmarks.Limits;
import io.github.tornadotransformers.benchmarks.MarkdownReport;
import io.github.tornadotransformers.benchmarks.MatrixBytes;
import io.github.tornadotransformers.benchmarks.ModelRow;
import io.github.tornadotransformers.benchmarks.ProgramCost;
import io.github.tornadotransformers.benchmarks.Samples;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/** JMH's results as the tables of {@code transformers bench}: times against what the machine could do beside them. */
final class Results {
    private static final double MICRO = 1e-6;

    private Results() {}

    static String table(Collection<RunResult> results) {
        List<BenchRow> rows = results.stream().map(Results::row).toList();
        return MarkdownReport.of(new BenchReport(Map.of(), limits(rows), rows, List.of()), Optional.empty());
    }

    static BenchRow row(RunResult result) {
        BenchmarkParams parameters = result.getParams();
        Case of = Case.parse(
                parameters.getParam(parameters.getParamsKeys().iterator().next()));
        Samples seconds = seconds(result);
        Limits limits = new Limits(
                of.threads(), secondary(result, RooflineProfiler.READ), secondary(result, RooflineProfiler.COMPUTE));
        return of.op().equals(Case.WHOLE_MODEL) ? model(of, seconds, limits) : kernel(of, seconds, limits);
    }

    /** One for each iteration. */
    private static Samples seconds(RunResult result) {
        List<Double> seconds = new ArrayList<>();
        for (BenchmarkResult fork : result.getBenchmarkResults()) {
            for (IterationResult iteration : fork.getIterationResults()) {
                seconds.add(iteration.getPrimaryResult().getScore() * MICRO);
            }
        }
        return new Samples(seconds);
    }

    /** Not a number where it was not measured. */
    private static double secondary(RunResult result, String name) {
        Result<?> found = result.getSecondaryResults().get(name);
        return found == null ? Double.NaN : found.getScore() * RooflineProfiler.GIGA;
    }

    private static KernelRow kernel(Case of, Samples seconds, Limits limits) {
        KernelShape shape = of.pass() == Case.Pass.BACKWARD
                ? GradientRun.find(of)
                : OpRun.cases(of.model()).shape(OpRun.key(of));
        return new KernelRow(
                of.model(), of.pass().phase(), shape, of.engine().toString(), of.threads(), seconds, limits);
    }

    private static ModelRow model(Case of, Samples seconds, Limits limits) {
        ModelConfig config = Shapes.named(of.model());
        BenchTest test = ModelRun.test(of);
        Program program = config.program(test.positions());
        ProgramCost cost = test.cost(program, MatrixBytes.of(of.dtype()));
        return new ModelRow(
                of.model(),
                config.parameters(),
                ProgramCost.modelBytes(program, MatrixBytes.of(of.dtype())),
                of.engine().toString(),
                of.engine().onDevice() ? "device" : "CPU",
                of.dtype().toString().toLowerCase(Locale.ROOT),
                of.threads(),
                test,
                new Samples(seconds.values().stream()
                        .map(each -> test.tokens() / each)
                        .toList()),
                cost.bytes() / seconds.mean(),
                cost.operations() / seconds.mean(),
                limits);
    }

    /** The mean of what was measured beside the rows, for each number of threads. */
    private static List<Limits> limits(List<BenchRow> rows) {
        Map<Integer, List<Limits>> byThreads = new TreeMap<>();
        for (BenchRow row : rows) {
            Limits limits = row.limits();
            if (Double.isFinite(limits.readBytesPerSecond())) {
                byThreads
                        .computeIfAbsent(limits.threads(), _ -> new ArrayList<>())
                        .add(limits);
            }
        }
        List<Limits> means = new ArrayList<>();
        byThreads.forEach((threads, all) -> means.add(new Limits(
                threads,
                all.stream().mapToDouble(Limits::readBytesPerSecond).average().orElseThrow(),
                all.stream().mapToDouble(Limits::operationsPerSecond).average().orElseThrow())));
        return means;
    }
}
