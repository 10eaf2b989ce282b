package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

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

    CacheUse cacheUse();

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

    /**
     * Shows what every Op gives for the rows of each batch's first span, from now on. Slow: for tests and {@code verify}.
     *
     * @throws IllegalStateException if a token has run already on an engine that is traced always or never
     */
    void trace(TraceListener listener);

    /**
     * Writes the keys and values that are kept for sequences to come, with their tokens, for another process.
     *
     * @param key says what they are of: the model, its types and the arithmetic contract
     * @throws IOException if the file cannot be written; an older one is then as it was
     * @throws EngineException if this engine does not do that
     */
    default void saveKept(Path file, String key) throws IOException {
        throw new EngineException("this engine keeps no keys and values in files");
    }

    /**
     * Keeps what {@link #saveKept} wrote, instead of what was kept before, as far as there is memory.
     *
     * @return why less was taken than the file should have, in words; it is no mistake if there is no file
     * @throws EngineException if this engine does not do that
     */
    default Optional<String> loadKept(Path file, String key) {
        throw new EngineException("this engine keeps no keys and values in files");
    }

    @Override
    void close();
}
