package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.program.Program;
import java.util.Optional;

/**
 * An engine that is about to be opened for a run that may be short: the host engine begins on plain loops, and changes to vectors, of
 * the same bits, when they have been compiled. For a large model the compiling begins with this object, beside whatever else is done
 * before {@link #open}, such as reading a tokenizer. Closing it without that ends it.
 */
public final class EngineOpening implements AutoCloseable {
    private final ModelSource model;
    private final EngineSettings settings;
    private final DType dtype;

    /** Of an engine on the host; a session's once there is one. */
    private final Optional<HostOps> ops;

    private boolean done;

    private EngineOpening(ModelSource model, EngineSettings settings) {
        this.model = model;
        this.settings = settings;
        dtype = settings.dtype().orElse(model.storedDType());
        ops = settings.engine().onDevice()
                ? Optional.empty()
                : Optional.of(HostEngine.quickOps(model, dtype, settings));
    }

    /** @throws EngineException if the engine cannot run here */
    public static EngineOpening of(ModelSource model, EngineSettings settings) {
        return new EngineOpening(model, settings);
    }

    /**
     * Loads the weights and makes the engine ready; once.
     *
     * @throws InvalidRequest if the settings do not fit the model
     * @throws io.github.tornadotransformers.models.CheckpointException if the weights cannot be read
     * @throws EngineException if the engine cannot run here, or the machine lacks memory
     * @throws IllegalStateException if this was opened or closed before
     */
    public EngineSession open() {
        if (done) {
            throw new IllegalStateException("this engine was opened or closed before");
        }
        EngineSession session = ops.isPresent() ? openHost(ops.get()) : Engines.open(model, settings);
        done = true;
        return session;
    }

    private EngineSession openHost(HostOps own) {
        Program program = ContextLength.program(model.config(), settings);
        HostMemory.requireWithHeap(program, model.weightBytes(program, dtype), dtype, settings);
        return HostEngine.open(model, program, dtype, settings, own);
    }

    boolean isOf(ModelSource other) {
        return model.equals(other);
    }

    @Override
    public void close() {
        if (!done) {
            done = true;
            ops.ifPresent(HostOps::close);
        }
    }
}
