package io.github.tornadotransformers.models.batching;

/** Takes the logits of one position of one span. */
@FunctionalInterface
public interface LogitsSink {
    /**
     * {@code logits[offset .. offset + vocabSize)} are those of the token at {@code position}; valid during the call.
     *
     * @param span its index in the batch
     */
    void accept(int span, int position, float[] logits, int offset);

    /**
     * Instead of logits, which are all finite, the index of the largest, the lowest where several are.
     *
     * @param span its index in the batch; it wants {@linkplain Span#onlyLikeliest nothing else}
     */
    default void acceptLikeliest(int span, int position, int token) {
        throw new UnsupportedOperationException("logits are wanted at position " + position);
    }
}
