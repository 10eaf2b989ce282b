package io.github.tornadotransformers.runner.engines;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOptions;
import io.github.tornadotransformers.taskgraphs.graphs.TornadoForwardPass;
import io.github.tornadotransformers.taskgraphs.training.TornadoTrainingPass;
import java.util.Optional;

/** The engines that run on a device through TornadoVM. */
final class DeviceEngine {
    private static final String RUNTIME = "tornado.runtime";

    private DeviceEngine() {}

    static EngineSession open(ModelSource model, Program program, DType dtype, EngineSettings settings) {
        long started = System.nanoTime();
        DeviceInfo device = device(settings);
        DeviceOptions options =
                DeviceOptions.of(device).withMath(settings.math()).withGraph(settings.graph());
        TornadoForwardPass forward =
                TornadoForwardPass.open(program, dtype, memory -> model.load(program, dtype, memory), options);
        return new EngineSession(
                forward,
                settings.engine(),
                device.toString(),
                dtype,
                System.nanoTime() - started,
                () -> new EngineSession.Compiled(forward.kernelsCompiled(), forward.jitNanos()),
                () -> {});
    }

    static GradientPass openGradients(Program program, ParameterArrays weights, EngineSettings settings) {
        return TornadoTrainingPass.open(program, weights, device(settings));
    }

    static DeviceInfo device(EngineSettings settings) {
        requireRuntime(settings.engine());
        return TornadoDevices.choose(
                backend(settings.engine()), settings.device().map(DeviceId::parse), settings.math());
    }

    /** The module is there where the SDK's launcher has started the JVM. */
    private static void requireRuntime(Engine engine) {
        if (ModuleLayer.boot().findModule(RUNTIME).isEmpty()) {
            throw Failure.noEngine("-e " + engine
                    + ": no TornadoVM SDK was found: ./tornado-env.sh says how to get one;" + " -e host needs none");
        }
    }

    private static Optional<Backend> backend(Engine engine) {
        return switch (engine) {
            case OPENCL -> Optional.of(Backend.OPENCL);
            case PTX -> Optional.of(Backend.PTX);
            case SPIRV -> Optional.of(Backend.SPIRV);
            case CUDA -> Optional.of(Backend.CUDA);
            case METAL -> Optional.of(Backend.METAL);
            case TORNADO, HOST, SCALAR -> Optional.empty();
        };
    }
}
