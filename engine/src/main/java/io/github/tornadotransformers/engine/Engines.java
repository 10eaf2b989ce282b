package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import java.util.function.BiFunction;

/** Opens a model on an engine by the engine's name. */
public final class Engines {
    private Engines() {}

    /**
     * Loads the weights and makes the engine ready.
     *
     * @throws InvalidRequest if the settings do not fit the model
     * @throws io.github.tornadotransformers.models.CheckpointException if the weights cannot be read
     * @throws EngineException if the engine cannot run here, or the machine lacks memory
     */
    public static EngineSession open(ModelSource model, EngineSettings settings) {
        Program program = ContextLength.program(model.config(), settings);
        DType dtype = settings.dtype().orElse(model.storedDType());
        if (settings.engine().onDevice()) {
            HostMemory.require(program, model.weightBytes(program, dtype), dtype);
            return DeviceEngine.open(model, program, dtype, settings);
        }
        HostMemory.requireWithHeap(program, model.weightBytes(program, dtype), dtype, settings);
        return HostEngine.open(model, program, dtype, settings);
    }

    /**
     * As {@link #open}, for a run that may be short: see {@link EngineOpening}. Not for whoever wants to know what vectors give, or how
     * fast they are.
     */
    public static EngineSession openQuickly(ModelSource model, EngineSettings settings) {
        try (EngineOpening opening = EngineOpening.of(model, settings)) {
            return opening.open();
        }
    }

    /**
     * As {@link #open} on the host, with a forward pass of the caller's making.
     *
     * @param interpreter makes the forward pass from program and weights
     */
    public static EngineSession openHost(
            ModelSource model, EngineSettings settings, BiFunction<Program, Weights, ForwardPass> interpreter) {
        Program program = ContextLength.program(model.config(), settings);
        DType dtype = settings.dtype().orElse(model.storedDType());
        HostMemory.requireWithHeap(program, model.weightBytes(program, dtype), dtype, settings);
        return HostEngine.open(model, program, dtype, settings, interpreter);
    }

    /** The kernels of a host engine, one by one, without a model. */
    public static HostOps openOps(EngineSettings settings) {
        return HostEngine.ops(settings);
    }

    /**
     * The device of an engine, for what runs there without a model, in strict mode.
     *
     * @throws EngineException if TornadoVM is not there, there is no such device, or it cannot run in strict mode
     */
    public static DeviceInfo device(EngineSettings settings) {
        return DeviceEngine.exactDevice(settings);
    }

    /** How much memory a model takes, weights and the keys and values that there is room for. */
    public static long bytes(ModelSource model, EngineSettings settings) {
        Program program = ContextLength.program(model.config(), settings);
        DType dtype = settings.dtype().orElse(model.storedDType());
        return Math.addExact(model.weightBytes(program, dtype), HostMemory.cacheBytes(program, settings));
    }

    /** That a model is being loaded, and how much of it: for whoever waits. */
    public static String loading(ModelSource model, EngineSettings settings) {
        Program program = ContextLength.program(model.config(), settings);
        DType dtype = settings.dtype().orElse(model.storedDType());
        return "loading " + HostMemory.figures(program, model.weightBytes(program, dtype), dtype) + " …";
    }
}
