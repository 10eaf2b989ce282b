package io.github.tornadotransformers.models.generation;

import java.util.Arrays;

/**
 * Guesses that a text goes on as it did where its last tokens came before: after the longest such match, the latest where
 * several are as long. Right for code, quotations, lists and whatever else repeats itself.
 *
 * <p>Source: "prompt lookup decoding", A. Saxena 2023; the n-gram speculation of vLLM and llama.cpp.
 */
public final class PromptLookup implements Guesser {
    /** Shorter matches are chance. */
    private static final int SHORTEST = 2;

    /** A longer match says no more. */
    private static final int LONGEST = 8;

    @Override
    public int[] guess(int[] ids, int length, int chosen, int most) {
        int best = SHORTEST - 1;
        int follows = length;
        for (int end = length - 1; end >= SHORTEST && best < LONGEST; end--) {
            int match = match(ids, length, end);
            if (match > best) {
                best = match;
                follows = end;
            }
        }
        return Arrays.copyOfRange(ids, follows, Math.min(length, follows + most));
    }

    /** How many tokens before {@code end} are those at the end of the text. */
    private static int match(int[] ids, int length, int end) {
        int match = 0;
        while (match < LONGEST && match < end && ids[end - 1 - match] == ids[length - 1 - match]) {
            match++;
        }
        return match;
    }
}
