package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.generation.Candidates;

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
     * Instead of logits, which are all finite, the largest.
     *
     * @param span its index in the batch
     * @param found as many as it {@linkplain Span#candidates asks for}; valid after the call too
     */
    default void acceptCandidates(int span, int position, Candidates found) {
        throw new UnsupportedOperationException("logits are wanted at position " + position);
    }
}
