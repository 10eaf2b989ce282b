package io.github.tornadotransformers.models.generation;

import java.util.Optional;

/**
 * One text on its way: tells which tokens are run next, and makes of their logits what follows. It knows nothing of other
 * sequences, nor of the engine that runs it.
 */
public interface Sequence {
    /** At most how many positions it will have run when it ends, 1 or more. */
    int positions();

    /**
     * What is run next: first the prompt, then what {@link #accept} has chosen, and perhaps guesses of what will be chosen
     * behind it.
     *
     * @param mostGuesses 0 or more
     */
    Step next(int mostGuesses);

    /**
     * Takes the logits of the next of a step's {@link Step#wanted} tokens, in order, until it ends; what comes after a guess
     * that was wrong is ignored.
     *
     * @param logits {@code [vocabSize]} from {@code offset} on, valid during the call
     * @return why the sequence ends now, if it does
     */
    Optional<StopReason> accept(float[] logits, int offset);

    /** How many of the largest logits serve instead of all; 0: it takes all. */
    default int candidates() {
        return 0;
    }

    /**
     * As {@link #accept}.
     *
     * @param found as many as {@link #candidates()} says
     */
    default Optional<StopReason> acceptCandidates(Candidates found) {
        throw new UnsupportedOperationException("this sequence takes logits");
    }

    /** Whether nobody waits for it any more; asked before every step. */
    default boolean isCancelled() {
        return false;
    }

    /** Told when so many of the next tokens have been run, before their logits are handed over. */
    default void advanced(int tokens) {}

    /** Told before the first step when so many of its tokens need not be run, as keys and values were there. */
    default void reused(int tokens) {}

    /** Told once, when it has ended; nothing is called after. */
    void ended(StopReason reason);

    /** Told once, instead of {@link #ended}, when {@link #next} or {@link #accept} has thrown. */
    void failed(RuntimeException failure);
}
