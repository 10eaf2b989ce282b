package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;

/** Checks of ids that come from outside. */
public final class TokenIds {
    private TokenIds() {}

    /**
     * @param what of which the ids are, as the message's beginning
     * @throws InvalidRequest naming the first id that the model has no embedding for
     */
    public static void requireInVocabulary(String what, int[] ids, int vocabSize) {
        for (int index = 0; index < ids.length; index++) {
            if (ids[index] < 0 || ids[index] >= vocabSize) {
                throw new InvalidRequest(what + " id " + ids[index] + " (number " + (index + 1)
                        + ") is outside the model's vocabulary: vocab_size is " + vocabSize);
            }
        }
    }
}
