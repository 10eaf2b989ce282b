package io.github.tornadotransformers.models.generation;

/**
 * The tokens that a {@link Sequence} has run next.
 *
 * @param firstPosition of the first of them; whatever was run from there on before is void
 * @param tokens one or more
 * @param guesses how many of the last tokens are only guessed; fewer than there are tokens
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record Step(int firstPosition, int[] tokens, int guesses) {
    /** Of how many of the last tokens the sequence takes the logits: the last that is certain, and each guess. */
    public int wanted() {
        return guesses + 1;
    }
}
