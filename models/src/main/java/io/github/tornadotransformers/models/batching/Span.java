package io.github.tornadotransformers.models.batching;

/**
 * Tokens of one sequence that follow each other.
 *
 * @param firstPosition of the first token; what the cache holds from there on is overwritten
 * @param logits of which tokens they are wanted
 * @param onlyLikeliest whether the index of the largest serves instead of logits, should the engine have found it
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record Span(KvCache cache, int firstPosition, int[] tokens, Wanted logits, boolean onlyLikeliest) {
    public Span(KvCache cache, int firstPosition, int[] tokens, Wanted logits) {
        this(cache, firstPosition, tokens, logits, false);
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
