package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.plot.Svg;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A {@link VerifyResult} as one page that needs nothing else: no script, no font, no network. */
public final class HtmlReport {
    private static final String STYLE = """
            :root { color-scheme: light dark; --line: #8886; --good: #1a7f37; --bad: #cf222e; }
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
            h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
            table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
            th, td { border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: right; }
            th:first-child, td:first-child { text-align: left; }
            .machine td { text-align: left; }
            .good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
            code, .mono { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
            svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
            """;

    private final StringBuilder page = new StringBuilder();

    private HtmlReport() {}

    public static String of(VerifyResult result) {
        HtmlReport report = new HtmlReport();
        report.head(result);
        result.comparisons().forEach(report::comparison);
        if (!result.kernels().isEmpty()) {
            report.kernels(result);
        }
        result.published().forEach(report::published);
        if (!result.runs().isEmpty()) {
            report.runs(result);
        }
        report.environment(result.environment());
        report.page.append("</body></html>\n");
        return report.page.toString();
    }

    private void add(String format, Object... arguments) {
        Object[] escaped = new Object[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            escaped[i] = arguments[i] instanceof String text ? Svg.escape(text) : arguments[i];
        }
        page.append(String.format(Locale.ROOT, format, escaped)).append('\n');
    }

    private void head(VerifyResult result) {
        add("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">");
        add("<meta name=\"viewport\" content=\"width=device-width\"><title>verify: %s</title>", result.subject());
        page.append("<style>").append(STYLE).append("</style></head><body>\n");
        add("<h1>verify: %s</h1>", result.subject());
        add("<p class=\"%s\">%s</p>", result.passes() ? "good" : "bad", result.verdict());
        result.nonFiniteWords().forEach(words -> add("<p class=\"bad\">%s</p>", words));
        if (result.steps() > 0) {
            add(
                    "<p>%d decoding steps after the prompt ids <code>%s</code>.</p>",
                    result.steps(), result.promptIds().toString());
        }
    }

    private void comparison(Comparison comparison) {
        add(
                "<h2>%s against %s: <span class=\"%s\">%s</span></h2><p>Expected: %s.</p>",
                comparison.engine(),
                comparison.reference(),
                comparison.agrees() ? "good" : "bad",
                comparison.agrees() ? "agree" : "differ",
                comparison.tolerance().toString());
        comparison.first().ifPresent(first -> add("<p class=\"bad\">First difference: %s</p>", first.toString()));
        page.append(DifferencePlot.of(comparison)).append('\n');
        add("<table><tr><th>point</th><th>elements</th><th>differing</th><th>largest ulp</th><th>largest abs</th>"
                + "<th>largest rel</th></tr>");
        comparison
                .points()
                .forEach((point, each) -> add(
                        "<tr%s><td>%s</td><td>%d</td><td>%d</td><td>%s</td><td>%s</td><td>%s</td></tr>",
                        new Raw(each.refused() > 0 ? " class=\"bad\"" : ""),
                        point.toString(),
                        each.elements(),
                        each.differing(),
                        MarkdownResult.ulps(each),
                        MarkdownResult.digits(each.largestAbsolute()),
                        MarkdownResult.digits(each.largestRelative())));
        add("</table>");
    }

    /** Text that is markup already. */
    private record Raw(String markup) {
        @Override
        public String toString() {
            return markup;
        }
    }

    private void kernels(VerifyResult result) {
        add("<h2>Kernels</h2>");
        page.append("<table><tr><th>kernel</th><th>weights</th>");
        result.kernels().keySet().forEach(engine -> add("<th>%s</th>", engine));
        add("</tr>");
        for (KernelCheck.Kernel kernel : result.kernelRows()) {
            String dtype = kernel.dtype().toString().toLowerCase(Locale.ROOT);
            add("<tr><td>%s</td><td>%s</td>", kernel.name(), dtype);
            result.kernels().keySet().forEach(engine -> kernelCell(result.verdict(engine, kernel)));
            add("</tr>");
        }
        add("</table>");
    }

    private void kernelCell(Optional<KernelCheck.Verdict> verdict) {
        if (verdict.isEmpty()) {
            add("<td>-</td>");
            return;
        }
        String text = verdict.get().firstRefused().orElseGet(() -> MarkdownResult.cell(verdict.get()));
        add("<td class=\"%s\">%s</td>", verdict.get().agrees() ? "good" : "bad", text);
    }

    private void published(String engine, List<PublishedFacts.Outcome> outcomes) {
        add("<h2>Published facts, %s</h2><ul>", engine);
        for (PublishedFacts.Outcome outcome : outcomes) {
            add(
                    "<li>%s: <span class=\"%s\">%s</span></li>",
                    outcome.fact(),
                    outcome.holds() ? "good" : "bad",
                    outcome.finding().orElse("holds"));
        }
        add("</ul>");
    }

    private void runs(VerifyResult result) {
        add("<h2>Timings</h2><table><tr><th>engine</th><th>device</th><th>weights</th><th>load, ms</th>"
                + "<th>all steps with tracing, ms</th></tr>");
        for (VerifyResult.EngineRun run : result.runs()) {
            add(
                    "<tr><td>%s</td><td>%s</td><td>%s</td><td>%.1f</td><td>%.1f</td></tr>",
                    run.engine(), run.device(), run.dtype(), run.loadMillis(), run.forwardMillis());
        }
        add("</table>");
    }

    private void environment(Map<String, String> environment) {
        add("<h2>Machine</h2><table class=\"machine\">");
        environment.forEach((name, fact) -> add("<tr><td>%s</td><td class=\"mono\">%s</td></tr>", name, fact));
        add("</table>");
    }
}
