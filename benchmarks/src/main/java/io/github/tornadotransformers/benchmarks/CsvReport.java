package io.github.tornadotransformers.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The rows of a {@link BenchReport} as CSV (RFC 4180), with the names of JSON's fields on top; lists joined by semicolons. */
public final class CsvReport {
    private CsvReport() {}

    /** @param earlier a run to hold it against */
    public static String of(BenchReport report, Optional<EarlierRun> earlier) {
        return of(JsonReport.rows(report, earlier));
    }

    /** @param rows with the same fields */
    static String of(List<ObjectNode> rows) {
        List<String> lines = new ArrayList<>();
        if (!rows.isEmpty()) {
            List<String> fields = new ArrayList<>();
            rows.getFirst().fieldNames().forEachRemaining(fields::add);
            lines.add(String.join(",", fields));
            rows.forEach(row ->
                    lines.add(fields.stream().map(field -> cell(row.get(field))).collect(Collectors.joining(","))));
        }
        return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
    }

    private static String cell(JsonNode value) {
        if (value.isArray()) {
            List<String> elements = new ArrayList<>();
            value.forEach(each -> elements.add(each.asText()));
            return String.join(";", elements);
        }
        String text = value.isNull() ? "" : value.asText();
        return text.matches("(?s).*[\",\\r\\n].*") ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }
}
