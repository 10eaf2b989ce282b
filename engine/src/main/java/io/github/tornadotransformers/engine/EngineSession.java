package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.ForwardPass;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A model that is loaded on an engine and ready to run.
 *
 * @param forward one sequence on the engine
 * @param batches the engine, for many sequences; empty where it runs one
 * @param device where it runs, in words
 * @param dtype of the matrices in memory
 * @param kvType of keys and values in memory
 * @param loadNanos from the opened model to weights in their place
 * @param compiled asks what has been compiled for a device so far: kernels compile when they first run
 * @param resources what is freed after the forward pass
 */
public record EngineSession(
        ForwardPass forward,
        Optional<Engine> batches,
        EngineKind engine,
        String device,
        DType dtype,
        KvType kvType,
        long loadNanos,
        Supplier<Compiled> compiled,
        AutoCloseable resources)
        implements AutoCloseable {
    /**
     * Kernels that were compiled for a device and have run there.
     *
     * @param nanos spent on it
     */
    public record Compiled(int kernels, long nanos) {
        /** Of an engine that compiles none. */
        public static final Compiled NOTHING = new Compiled(0, 0);
    }

    @Override
    public void close() {
        forward.close();
        try {
            resources.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
