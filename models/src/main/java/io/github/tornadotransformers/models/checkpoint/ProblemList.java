package io.github.tornadotransformers.models.checkpoint;

import java.util.List;
import java.util.stream.Collectors;

/** Lists that stay readable however long they are. */
final class ProblemList {
    private static final int MAX_SHOWN = 20;

    private ProblemList() {}

    /** On one line, separated by commas. */
    static String inline(List<String> items) {
        return items.stream().limit(MAX_SHOWN).collect(Collectors.joining(", ")) + more(items, ", ");
    }

    /** One item a line, indented. */
    static String lines(List<String> items) {
        return items.stream().limit(MAX_SHOWN).collect(Collectors.joining("\n  ", "\n  ", "")) + more(items, "\n  ");
    }

    private static String more(List<String> items, String separator) {
        return items.size() <= MAX_SHOWN ? "" : separator + "and " + (items.size() - MAX_SHOWN) + " more";
    }
}
