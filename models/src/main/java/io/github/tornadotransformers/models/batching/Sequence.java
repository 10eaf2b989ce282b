package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.generation.StopReason;
import java.util.Optional;

/**
 * One text on its way: tells which tokens are run next, and makes of their logits what follows. It knows nothing of other
 * sequences, nor of the engine that runs it.
 */
public interface Sequence {
    /** At most how many positions it will have run when it ends, 1 or more. */
    int positions();

    /**
     * The tokens behind those that have been run: first the prompt, then what {@link #accept} has chosen. Asked once for each
     * call of {@code accept}; one or more.
     */
    int[] next();

    /**
     * Takes the logits of the last of these tokens.
     *
     * @param logits {@code [vocabSize]} from {@code offset} on, valid during the call
     * @return why the sequence ends now, if it does
     */
    Optional<StopReason> accept(float[] logits, int offset);

    /** Whether nobody waits for it any more; asked before every step. */
    default boolean isCancelled() {
        return false;
    }

    /** Told once, when it has ended; nothing is called after. */
    void ended(StopReason reason);

    /** Told once, instead of {@link #ended}, when {@link #next} or {@link #accept} has thrown. */
    void failed(RuntimeException failure);
}
