package io.github.tornadotransformers.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A {@link BenchReport} as Markdown tables. */
public final class MarkdownReport {
    private static final double MICRO = 1e6;
    private static final double MILLI = 1e3;

    private MarkdownReport() {}

    /** @param earlier a run to hold it against */
    public static String of(BenchReport report, Optional<EarlierRun> earlier) {
        List<String> parts = new ArrayList<>();
        if (!report.models().isEmpty()) {
            parts.add(models(report.models(), earlier));
        }
        if (!report.kernels().isEmpty()) {
            parts.add(kernels(report.kernels(), earlier));
        }
        if (!report.profile().isEmpty()) {
            parts.add(profile(report.profile(), earlier));
        }
        if (!report.predictions().isEmpty()) {
            parts.add(predictions(report.predictions()));
        }
        parts.add(limits(report.limits()));
        return String.join("\n", parts);
    }

    private static String models(List<ModelRow> rows, Optional<EarlierRun> earlier) {
        MarkdownTable table = new MarkdownTable()
                .words("model")
                .figures("params", "size")
                .words("engine", "device", "dtype")
                .figures("threads")
                .words("test")
                .figures("tokens/s", "GB/s", "of read", "GFLOP/s", "of peak");
        addChangeColumns(table, earlier);
        for (ModelRow row : rows) {
            boolean decodes = row.test().phase() == BenchTest.Phase.DECODE;
            List<String> cells = new ArrayList<>(List.of(
                    row.model(),
                    Figures.millions(row.parameters()),
                    Figures.gibibytes(row.weightBytes()),
                    row.engine(),
                    row.device(),
                    row.dtype(),
                    row.threads() == 0 ? Figures.NONE : Integer.toString(row.threads()),
                    row.test().name(),
                    String.format(
                            Locale.ROOT,
                            "%.2f ± %.2f",
                            row.tokensPerSecond().mean(),
                            row.tokensPerSecond().deviation()),
                    decodes ? Figures.giga(row.bytesPerSecond()) : Figures.NONE,
                    decodes ? Figures.percent(row.readShare()) : Figures.NONE,
                    decodes ? Figures.NONE : Figures.giga(row.operationsPerSecond()),
                    decodes ? Figures.NONE : Figures.percent(row.operationShare())));
            addChange(cells, row, earlier);
            table.row(cells);
        }
        return table.toString();
    }

    private static String kernels(List<KernelRow> rows, Optional<EarlierRun> earlier) {
        MarkdownTable table = new MarkdownTable()
                .words("model", "Op", "shape", "dtype", "engine")
                .figures("threads", "µs", "±", "GB/s", "GFLOP/s")
                .words("bound by")
                .figures("of limit");
        addChangeColumns(table, earlier);
        for (KernelRow row : rows) {
            List<String> cells = new ArrayList<>(List.of(
                    row.model(),
                    row.shape().name(),
                    row.shape().words(),
                    row.dtype(),
                    row.engine(),
                    row.threads() == 0 ? Figures.NONE : Integer.toString(row.threads()),
                    Figures.significant(row.seconds().mean() * MICRO),
                    Figures.percent(row.seconds().deviation() / row.seconds().mean()),
                    Figures.giga(row.bytesPerSecond()),
                    row.operationsPerSecond() > 0 ? Figures.giga(row.operationsPerSecond()) : Figures.NONE,
                    row.bound(),
                    Figures.percent(row.share())));
            addChange(cells, row, earlier);
            table.row(cells);
        }
        return table.toString();
    }

    /** Times of a decoded token ({@code tg}) or of a prompt ({@code pp}). */
    private static String profile(List<ProfileRow> rows, Optional<EarlierRun> earlier) {
        MarkdownTable table = new MarkdownTable()
                .words("model", "engine", "dtype")
                .figures("threads")
                .words("test", "Op")
                .figures("calls", "ms", "share", "GB/s", "GFLOP/s");
        addChangeColumns(table, earlier);
        for (ProfileRow row : rows) {
            List<String> cells = new ArrayList<>(List.of(
                    row.model(),
                    row.engine(),
                    row.dtype(),
                    Integer.toString(row.threads()),
                    row.test().name(),
                    row.op(),
                    Integer.toString(row.callsOfPass()),
                    Figures.significant(row.secondsOfPass() * MILLI),
                    String.format(Locale.ROOT, "%.1f %%", 100 * row.share()),
                    Figures.giga(row.bytesPerSecond()),
                    row.operationsPerSecond() > 0 ? Figures.giga(row.operationsPerSecond()) : Figures.NONE));
            addChange(cells, row, earlier);
            table.row(cells);
        }
        return table.toString();
    }

    private static void addChangeColumns(MarkdownTable table, Optional<EarlierRun> earlier) {
        if (earlier.isPresent()) {
            table.figures("× earlier").words("change");
        }
    }

    private static void addChange(List<String> cells, BenchRow row, Optional<EarlierRun> earlier) {
        if (earlier.isPresent()) {
            Optional<Change> change = earlier.get().change(row);
            cells.add(change.map(each -> Figures.ratio(each.ratio())).orElse(Figures.NONE));
            cells.add(change.map(each -> each.verdict().toString()).orElse("new"));
        }
    }

    /** A line for each machine and model, a column for each type. */
    static String predictions(List<Prediction> predictions) {
        List<String> columns = new ArrayList<>();
        for (BenchTest test : List.of(Prediction.DECODE, Prediction.PREFILL)) {
            Prediction.DTYPES.forEach(
                    dtype -> columns.add(test.name() + " " + dtype.toString().toLowerCase(Locale.ROOT)));
        }
        MarkdownTable table = new MarkdownTable().words("machine", "model").figures(columns.toArray(String[]::new));
        int types = Prediction.DTYPES.size();
        for (int i = 0; i < predictions.size(); i += types) {
            List<Prediction> line = predictions.subList(i, i + types);
            List<String> cells = new ArrayList<>(
                    List.of(line.getFirst().machine(), line.getFirst().model()));
            line.forEach(each -> cells.add(rate(each, each.decodeTokensPerSecond())));
            line.forEach(each -> cells.add(rate(each, each.prefillTokensPerSecond())));
            table.row(cells);
        }
        return table.toString();
    }

    private static String rate(Prediction prediction, double tokensPerSecond) {
        return prediction.fits() ? Figures.significant(tokensPerSecond) : Figures.NONE;
    }

    private static String limits(List<Limits> limits) {
        StringBuilder text = new StringBuilder();
        for (Limits each : limits) {
            text.append(String.format(
                    Locale.ROOT,
                    "This machine, %s: reads %s GB/s, computes %s GFLOP/s (fused products and sums).\n",
                    each.words(),
                    Figures.giga(each.readBytesPerSecond()),
                    Figures.giga(each.operationsPerSecond())));
        }
        return text.toString();
    }
}
