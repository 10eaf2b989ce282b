package io.github.tornadotransformers.benchmarks;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.benchmarks.gpu.PredictedKernel;
import io.github.tornadotransformers.benchmarks.gpu.TokenPrediction;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * {@link TokenPrediction}s as a table or JSON.
 *
 * @param groups of the kernels that a GPU runs
 * @param loops of the same token, where every kernel is a loop
 */
public record TokenPredictionReport(TokenPrediction groups, TokenPrediction loops) {
    private static final double MEGA = 1e6;
    private static final double MICRO = 1e6;
    private static final double MILLI = 1e3;
    private static final double TERA = 1e12;

    /** Tables, with what they come to below each. */
    public static String markdown(List<TokenPredictionReport> reports) {
        return reports.stream().map(TokenPredictionReport::markdown).collect(Collectors.joining("\n"));
    }

    private String markdown() {
        MarkdownTable table = new MarkdownTable()
                .words("task", "kernel")
                .figures("launches", "items", "in flight", "MB", "M instructions", "ms", "of bandwidth")
                .words("bound by")
                .figures("ms as loops");
        for (PredictedKernel kernel : groups.kernels()) {
            table.row(List.of(
                    kernel.task(),
                    kernel.kernel(),
                    Integer.toString(kernel.launches()),
                    Long.toString(kernel.items()),
                    kernel.inFlight() == 0 ? Figures.NONE : Integer.toString(kernel.inFlight()),
                    Figures.significant(kernel.memoryBytes() / MEGA),
                    Figures.significant(kernel.instructions() / MEGA),
                    Figures.significant(kernel.seconds() * MILLI),
                    Figures.percent(kernel.share(groups.gpu())),
                    kernel.bound().toString(),
                    asLoops(kernel)
                            .map(loop -> Figures.significant(loop.seconds() * MILLI))
                            .orElse(Figures.NONE)));
        }
        return table + summary();
    }

    /** The loop that does the same; none for a kernel that does the work of several. */
    private Optional<PredictedKernel> asLoops(PredictedKernel kernel) {
        return loops.kernels().stream()
                .filter(loop -> loop.task().equals(kernel.task()))
                .filter(loop -> loop.memoryBytes() == kernel.memoryBytes())
                .findFirst();
    }

    private String summary() {
        return String.format(
                Locale.ROOT,
                """
                %s %s on %s (%s), a token at position %d, predicted: %s tokens/s, %s of %s TB/s; as loops %s tokens/s, %s.
                %d launches in %d graphs, %s us each, take %s of its %s ms; by themselves, %s us each: %s tokens/s. What TornadoVM takes on the host is not counted.%s
                """,
                groups.model(),
                name(),
                groups.gpu().name(),
                groups.backend(),
                groups.position(),
                Figures.significant(groups.tokensPerSecond()),
                Figures.percent(groups.share()),
                Figures.significant(groups.gpu().memory().bytesPerSecond() / TERA),
                Figures.significant(loops.tokensPerSecond()),
                Figures.percent(loops.share()),
                groups.launches(),
                groups.graphs(),
                Figures.significant(groups.launchSeconds() / groups.launches() * MICRO),
                Figures.significant(groups.launchSeconds() * MILLI),
                Figures.significant(groups.seconds() * MILLI),
                Figures.significant(groups.gpu().launch().streamed() * MICRO),
                Figures.significant(groups.streamedTokensPerSecond()),
                groups.fits()
                        ? ""
                        : " It does not fit the memory of " + groups.gpu().name() + ".");
    }

    private String name() {
        return groups.dtype().toString().toLowerCase(Locale.ROOT);
    }

    /** Each prediction, then each kernel of each. */
    public static ObjectNode json(List<TokenPredictionReport> reports) {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        ArrayNode tokens = object.putArray("tokens");
        reports.forEach(report -> tokens.add(report.token()));
        rows(reports).forEach(object.putArray(JsonReport.ROWS)::add);
        return object;
    }

    /** A line for each kernel. */
    public static String csv(List<TokenPredictionReport> reports) {
        return CsvReport.of(rows(reports));
    }

    private static List<ObjectNode> rows(List<TokenPredictionReport> reports) {
        List<ObjectNode> rows = new ArrayList<>();
        reports.forEach(report -> report.groups.kernels().forEach(kernel -> rows.add(report.row(kernel))));
        return rows;
    }

    private ObjectNode head() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("model", groups.model())
                .put("dtype", name())
                .put("device", groups.gpu().name())
                .put("backend", groups.backend().toString())
                .put("position", groups.position());
    }

    private ObjectNode token() {
        ObjectNode node = head().put("graphs", groups.graphs())
                .put("launches", groups.launches())
                .put("memory_bytes", groups.memoryBytes())
                .put("fits", groups.fits());
        JsonReport.number(node, "seconds", groups.seconds());
        JsonReport.number(node, "launch_seconds", groups.launchSeconds());
        JsonReport.number(node, "tokens_per_s", groups.tokensPerSecond());
        JsonReport.number(node, "streamed_tokens_per_s", groups.streamedTokensPerSecond());
        JsonReport.number(node, "bandwidth_share", groups.share());
        JsonReport.number(node, "loops_seconds", loops.seconds());
        JsonReport.number(node, "loops_tokens_per_s", loops.tokensPerSecond());
        return node.put("source", groups.gpu().source());
    }

    private ObjectNode row(PredictedKernel kernel) {
        ObjectNode node = head().put("task", kernel.task())
                .put("kernel", kernel.kernel())
                .put("launches", kernel.launches())
                .put("items", kernel.items())
                .put("loads_in_flight", kernel.inFlight())
                .put("memory_bytes", kernel.memoryBytes());
        JsonReport.number(node, "instructions", kernel.instructions());
        JsonReport.number(node, "seconds", kernel.seconds());
        JsonReport.number(node, "bandwidth_share", kernel.share(groups.gpu()));
        node.put("bound", kernel.bound().toString());
        JsonReport.number(
                node,
                "loops_seconds",
                asLoops(kernel).map(PredictedKernel::seconds).orElse(Double.NaN));
        return node;
    }
}
