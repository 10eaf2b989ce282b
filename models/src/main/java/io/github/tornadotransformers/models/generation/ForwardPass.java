package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.program.Program;

/**
 * One sequence on one engine: a program, its weights, its activations and its key-value cache. Not safe for use by several
 * threads.
 */
public interface ForwardPass extends AutoCloseable {
    Program program();

    /**
     * Runs tokens through the model, at positions {@code firstPosition, firstPosition + 1, …}, and stores their keys and
     * values in the cache. Everything before {@code firstPosition} must have been run by earlier calls; what lies behind is
     * overwritten.
     *
     * @return the logits of the last token, {@code [vocabSize]}, valid until the next call; what lies behind them is not theirs
     * @throws IllegalArgumentException if there is no token, an id is not in {@code [0, vocabSize)}, or the positions do not
     *     fit {@code program().contextLength()}
     */
    float[] forward(int[] tokens, int firstPosition);

    /**
     * As {@link #forward}, where only the largest logit matters: an engine may keep them to itself.
     *
     * @return its index, the lowest where several are
     * @throws NonFiniteLogitException if a logit is NaN or infinite
     */
    default int likeliest(int[] tokens, int firstPosition) {
        float[] logits = forward(tokens, firstPosition);
        int vocabSize = program().vocabSize();
        Logits.requireFinite(logits, 0, vocabSize, firstPosition + tokens.length - 1);
        return Logits.argmax(logits, vocabSize);
    }

    /** As {@link #forward}, but hands on the logits of every token, in order. */
    void forwardAll(int[] tokens, int firstPosition, LogitsSink sink);

    /** Gives the memory of keys and values back for other sequences of the same engine; the next position is 0. */
    default void forget() {}

    /** Shows every Op's result to {@code listener} from now on. Slow: for tests and {@code verify}. */
    void trace(TraceListener listener);

    @Override
    void close();

    /** Takes the logits of one position. */
    @FunctionalInterface
    interface LogitsSink {
        /** {@code logits[offset .. offset + vocabSize)} are those of the token at {@code position}; valid during the call. */
        void accept(int position, float[] logits, int offset);
    }
}
