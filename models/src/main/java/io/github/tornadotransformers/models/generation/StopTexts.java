package io.github.tornadotransformers.models.generation;

import java.util.BitSet;
import java.util.List;

/**
 * Lets text through up to the first stop text; what may be the beginning of one waits for its continuation. Special tokens
 * that a stop text spells are looked for, too, though they are not shown.
 */
final class StopTexts {
    private final List<String> texts;
    private final StringBuilder waiting = new StringBuilder();
    /** The characters of {@code waiting} that are not shown. */
    private BitSet unseen = new BitSet();

    private boolean found;

    StopTexts(List<String> texts) {
        this.texts = texts;
    }

    boolean found() {
        return found;
    }

    /** Whether a special token with this text matters. */
    boolean mention(String special) {
        return texts.stream().anyMatch(text -> text.contains(special));
    }

    /** What can be shown after {@code text} came; nothing more once a stop text was found. */
    String push(String text) {
        if (found) {
            return "";
        }
        waiting.append(text);
        int stop = firstStop();
        found = stop >= 0;
        return take(found ? stop : waiting.length() - possiblePrefix());
    }

    /** As {@link #push}, of the text of a special token, which is not shown itself. */
    String pushUnseen(String special) {
        unseen.set(waiting.length(), waiting.length() + special.length());
        return push(special);
    }

    /** What waited for a continuation that does not come. */
    String finish() {
        return found ? "" : take(waiting.length());
    }

    private String take(int count) {
        StringBuilder taken = new StringBuilder(count);
        for (int i = 0; i < count; i++) {
            if (!unseen.get(i)) {
                taken.append(waiting.charAt(i));
            }
        }
        waiting.delete(0, count);
        unseen = unseen.get(count, Math.max(count, unseen.length()));
        return taken.toString();
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
