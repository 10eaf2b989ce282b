package io.github.tornadotransformers.runner.engines;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.ForwardPass;

/**
 * A model that is loaded on an engine and ready to run.
 *
 * @param device where it runs, in words
 * @param dtype of the matrices in memory
 * @param loadNanos from the opened model to weights in their place
 * @param jitNanos spent on compiling for a device
 * @param resources what is freed after the forward pass
 */
public record EngineSession(
        ForwardPass forward,
        Engine engine,
        String device,
        DType dtype,
        long loadNanos,
        long jitNanos,
        AutoCloseable resources)
        implements AutoCloseable {
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
