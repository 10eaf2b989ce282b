package io.github.tornadotransformers.models.batching;

/**
 * Tokens of one sequence that follow each other.
 *
 * @param firstPosition of the first token; what the cache holds from there on is overwritten
 * @param logits of which tokens they are wanted
 * @param candidates how many of the largest logits serve instead of all, should the engine have found them; 0: all are wanted
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record Span(KvCache cache, int firstPosition, int[] tokens, Wanted logits, int candidates) {
    public Span(KvCache cache, int firstPosition, int[] tokens, Wanted logits) {
        this(cache, firstPosition, tokens, logits, 0);
    }

    /** How many tokens' logits are wanted. */
    public int wanted() {
        return switch (logits) {
            case NONE -> 0;
            case LAST -> 1;
            case ALL -> tokens.length;
        };
    }

    /** The first position behind it. */
    public int end() {
        return firstPosition + tokens.length;
    }
}
