package io.github.tornadotransformers.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** A table whose columns line up in a terminal, too. */
final class MarkdownTable {
    private final List<String> titles = new ArrayList<>();
    private final List<Boolean> right = new ArrayList<>();
    private final List<List<String>> rows = new ArrayList<>();

    MarkdownTable words(String... columns) {
        return columns(false, columns);
    }

    MarkdownTable figures(String... columns) {
        return columns(true, columns);
    }

    private MarkdownTable columns(boolean toTheRight, String... columns) {
        for (String title : columns) {
            titles.add(title);
            right.add(toTheRight);
        }
        return this;
    }

    /** @param cells one for each column */
    void row(List<String> cells) {
        if (cells.size() != titles.size()) {
            throw new IllegalArgumentException(cells.size() + " cells for " + titles.size() + " columns");
        }
        rows.add(List.copyOf(cells));
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        append(text, titles);
        for (int column = 0; column < titles.size(); column++) {
            text.append("|").append("-".repeat(width(column) + 1)).append(right.get(column) ? ":" : "-");
        }
        text.append("|\n");
        rows.forEach(row -> append(text, row));
        return text.toString();
    }

    private void append(StringBuilder text, List<String> cells) {
        for (int column = 0; column < cells.size(); column++) {
            String cell = cells.get(column);
            String padding = " ".repeat(width(column) - cell.length());
            text.append("| ")
                    .append(right.get(column) ? padding + cell : cell + padding)
                    .append(' ');
        }
        text.append("|\n");
    }

    private int width(int column) {
        int width = titles.get(column).length();
        for (List<String> row : rows) {
            width = Math.max(width, row.get(column).length());
        }
        return width;
    }
}
