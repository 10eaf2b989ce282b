package io.github.tornadotransformers.models.generation;

import java.util.List;

/** Lets text through up to the first stop text; what may be the beginning of one waits for its continuation. */
final class StopTexts {
    private final List<String> texts;
    private final StringBuilder waiting = new StringBuilder();
    private boolean found;

    StopTexts(List<String> texts) {
        this.texts = texts;
    }

    boolean found() {
        return found;
    }

    /** What can be shown after {@code text} came; nothing more once a stop text was found. */
    String push(String text) {
        if (found) {
            return "";
        }
        waiting.append(text);
        int stop = firstStop();
        if (stop >= 0) {
            found = true;
            return waiting.substring(0, stop);
        }
        int shown = waiting.length() - possiblePrefix();
        String ready = waiting.substring(0, shown);
        waiting.delete(0, shown);
        return ready;
    }

    /** What waited for a continuation that does not come. */
    String finish() {
        return found ? "" : waiting.toString();
    }

    private int firstStop() {
        int first = -1;
        for (String text : texts) {
            int at = waiting.indexOf(text);
            if (at >= 0 && (first < 0 || at < first)) {
                first = at;
            }
        }
        return first;
    }

    /** The length of the longest end of {@code waiting} that a stop text begins with. */
    private int possiblePrefix() {
        int longest = 0;
        for (String text : texts) {
            for (int length = Math.min(text.length() - 1, waiting.length()); length > longest; length--) {
                if (text.startsWith(waiting.substring(waiting.length() - length))) {
                    longest = length;
                }
            }
        }
        return longest;
    }
}
