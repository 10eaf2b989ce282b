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
     * As {@link #forward(int[], int)}, where the largest logits serve: an engine may keep the others to itself.
     *
     * @param candidates how many of them, from 1 to the vocabulary
     * @param sink takes so many candidates of the last token, or its logits
     */
    default void forward(int[] tokens, int firstPosition, int candidates, LogitsSink sink) {
        sink.accept(firstPosition + tokens.length - 1, forward(tokens, firstPosition), 0);
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

        /** Instead of logits, the candidates that were asked for; valid after the call too. */
        default void acceptCandidates(int position, Candidates found) {
            throw new UnsupportedOperationException("logits are wanted at position " + position);
        }
    }
}
