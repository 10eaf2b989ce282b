package io.github.tornadotransformers.models.generation;

/** Hears of a text while it is generated, in the thread that generates. */
@FunctionalInterface
public interface GenerationListener {
    /** Hears nothing. */
    GenerationListener NONE = new GenerationListener() {
        @Override
        public void text(String piece) {}

        @Override
        public boolean hearsChoices() {
            return false;
        }
    };

    /** More of the text, as soon as it is certain: whole characters, never a part of a stop text. */
    void text(String piece);

    /** How many tokens of the prompt have been run, as it grows to all of them. */
    default void promptRun(int tokens) {}

    /** Whether it is told of {@link #chosen} tokens with their logits; those that nobody asks for may stay on a device. */
    default boolean hearsChoices() {
        return true;
    }

    /**
     * A token was chosen, be it an end token.
     *
     * @param logits {@code [vocabSize]} from {@code offset} on, of which it was chosen; valid during the call
     */
    default void chosen(int token, float[] logits, int offset) {}

    /** Instead of {@link #chosen}, where it does not {@linkplain #hearsChoices hear} of logits, and none were handed over. */
    default void chosenOfCandidates(int token) {}

    /** Asked before every forward pass: whether to generate no further. */
    default boolean isCancelled() {
        return false;
    }
}
