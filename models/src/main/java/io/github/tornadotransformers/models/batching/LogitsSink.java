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
}
