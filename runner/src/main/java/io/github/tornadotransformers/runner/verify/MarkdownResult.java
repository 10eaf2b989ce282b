package io.github.tornadotransformers.runner.verify;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A {@link VerifyResult} as Markdown, for a terminal and for publishing. */
public final class MarkdownResult {
    private final StringBuilder text = new StringBuilder();

    private MarkdownResult() {}

    public static String of(VerifyResult result) {
        MarkdownResult markdown = new MarkdownResult();
        result.comparisons().forEach(markdown::comparison);
        if (!result.kernels().isEmpty()) {
            markdown.kernels(result);
        }
        result.published().forEach(markdown::published);
        result.nonFiniteWords().forEach(words -> markdown.line("%s", words));
        markdown.line("%s", result.verdict());
        return markdown.text.toString();
    }

    private void line(String format, Object... arguments) {
        text.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }

    private void comparison(Comparison comparison) {
        line(
                "%s against %s (%s): %s",
                comparison.engine(),
                comparison.reference(),
                comparison.tolerance(),
                comparison.agrees() ? "agree" : "DIFFER");
        line("");
        line("| point | elements | differing | largest ulp | largest abs | largest rel |");
        line("|---|---:|---:|---:|---:|---:|");
        comparison
                .points()
                .forEach((point, each) -> line(
                        "| %s%s | %d | %d | %s | %s | %s |",
                        each.refused() > 0 ? "**wrong** " : "",
                        point,
                        each.elements(),
                        each.differing(),
                        ulps(each),
                        digits(each.largestAbsolute()),
                        digits(each.largestRelative())));
        line("");
        comparison.first().ifPresent(first -> line("First difference: %s%n", first));
    }

    static String ulps(Differences differences) {
        return differences.largestUlps() == Long.MAX_VALUE ? "NaN" : Long.toString(differences.largestUlps());
    }

    /** Three significant digits. */
    static String digits(double value) {
        return value == 0 ? "0" : String.format(Locale.ROOT, "%.3g", value);
    }

    /** A row per kernel and weight type, a column per engine. */
    private void kernels(VerifyResult result) {
        Map<String, List<KernelCheck.Verdict>> byEngine = result.kernels();
        line("| kernel | weights | %s |", String.join(" | ", byEngine.keySet()));
        line("|---|---|%s", "---|".repeat(byEngine.size()));
        for (KernelCheck.Kernel kernel : result.kernelRows()) {
            String cells = String.join(
                    " | ",
                    byEngine.keySet().stream()
                            .map(engine -> result.verdict(engine, kernel)
                                    .map(MarkdownResult::cell)
                                    .orElse("-"))
                            .toList());
            line("| %s | %s | %s |", kernel.name(), kernel.dtype().toString().toLowerCase(Locale.ROOT), cells);
        }
        line("");
        byEngine.forEach((engine, verdicts) -> verdicts.forEach(verdict -> verdict.firstRefused()
                .ifPresent(where -> line("%s, %s: %s", engine, verdict.kernel().name(), where))));
    }

    static String cell(KernelCheck.Verdict verdict) {
        Differences differences = verdict.differences();
        String shapes = verdict.cases() + (verdict.cases() == 1 ? " shape, " : " shapes, ");
        if (verdict.agrees()) {
            return shapes
                    + (differences.differing() == 0 ? "equal" : "within tolerance, " + ulps(differences) + " ulp");
        }
        return shapes + "**" + differences.refused() + " of " + differences.elements() + " wrong**, "
                + ulps(differences) + " ulp";
    }

    private void published(String engine, List<PublishedFacts.Outcome> outcomes) {
        for (PublishedFacts.Outcome outcome : outcomes) {
            line("- %s, %s: %s", engine, outcome.fact(), outcome.finding().orElse("holds"));
        }
        line("");
    }
}
