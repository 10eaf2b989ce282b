package io.github.tornadotransformers.models.generation;

/** Checks of ids that come from outside. */
final class TokenIds {
    private TokenIds() {}

    /** @throws IllegalArgumentException naming the first id that the model has no embedding for */
    static void requireInVocabulary(String what, int[] ids, int vocabSize) {
        for (int index = 0; index < ids.length; index++) {
            if (ids[index] < 0 || ids[index] >= vocabSize) {
                throw new IllegalArgumentException(what + " id " + ids[index] + " (number " + (index + 1)
                        + ") is outside the model's vocabulary: vocab_size is " + vocabSize);
            }
        }
    }
}
