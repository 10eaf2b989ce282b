package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.program.Program;

/**
 * A program and its weights on some machine, which run any number of sequences together. What a sequence gets does not depend
 * on those that run beside it. Not safe for use by several threads.
 */
public interface Engine extends AutoCloseable {
    Program program();

    /**
     * Opens the keys and values of a sequence. It takes memory as the sequence grows.
     *
     * @param positions at most how many it will hold
     * @throws IllegalArgumentException if that is less than one or more than {@code program().contextLength()}
     */
    KvCache open(int positions);

    /** Whether a cache can have memory for so many positions when no other has any. */
    boolean canHold(int positions);

    /**
     * Runs the tokens of all spans through the model, at their positions, and stores their keys and values in their caches.
     * Either all caches have memory for their span, or nothing runs.
     *
     * @param sink gets the wanted logits, span by span and in the order of positions
     * @throws CacheFullException if the caches need more memory than is left; what they held stays
     * @throws IllegalArgumentException if a span does not fit its cache, follows on what was not run, has an id outside the
     *     vocabulary, or two have the same cache
     */
    void run(Batch batch, LogitsSink sink);

    @Override
    void close();
}
