package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOptions;
import io.github.tornadotransformers.taskgraphs.graphs.TornadoEngine;
import io.github.tornadotransformers.taskgraphs.graphs.TornadoForwardPass;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import java.util.Optional;

/** The engines that run on a device through TornadoVM. */
final class DeviceEngine {
    private static final String RUNTIME = "tornado.runtime";

    private DeviceEngine() {}

    static EngineSession open(ModelSource model, Program program, DType dtype, EngineSettings settings) {
        long started = System.nanoTime();
        DeviceInfo device = chosen(settings);
        if (settings.math() == MathMode.STRICT) {
            settings.probes().requireUsable(device, Wording.of("use %s fast, or %s host", Term.MATH, Term.ENGINE));
        }
        DeviceOptions options = DeviceOptions.of(device)
                .withMath(settings.math())
                .withGraph(settings.graph())
                .withKvType(settings.kvType())
                .withCompileListener(settings.compiling());
        WeightSource weights = WeightSource.of(model, program, dtype);
        Optional<TornadoEngine> batches = settings.sequences() > 1
                        || settings.cacheBytes().isPresent()
                ? Optional.of(TornadoEngine.open(
                        program, dtype, weights, options, cacheBytes(program, dtype, weights, options, settings)))
                : Optional.empty();
        TornadoForwardPass forward = batches.map(TornadoForwardPass::new)
                .orElseGet(() -> TornadoForwardPass.open(program, dtype, weights, options));
        return new EngineSession(
                forward,
                batches.map(engine -> engine),
                settings.engine(),
                device.toString(),
                dtype,
                settings.kvType(),
                System.nanoTime() - started,
                () -> new EngineSession.Compiled(forward.kernelsCompiled(), forward.jitNanos()),
                () -> {});
    }

    /**
     * For pages of keys and values: what was asked for; else what the sequences need when all are as long as the context, as far
     * as the device has it, but a sequence's at least.
     */
    private static long cacheBytes(
            Program program, DType dtype, WeightSource weights, DeviceOptions options, EngineSettings settings) {
        if (settings.cacheBytes().isPresent()) {
            return settings.cacheBytes().getAsLong();
        }
        long one = TornadoEngine.cacheBytes(program, settings.kvType(), program.contextLength());
        long all = Math.multiplyExact(one, (long) settings.sequences());
        return Math.max(one, Math.min(all, TornadoEngine.affordableCacheBytes(program, dtype, weights, options)));
    }

    /** For what computes in strict mode only. */
    static DeviceInfo exactDevice(EngineSettings settings) {
        DeviceInfo device = chosen(settings);
        settings.probes().requireUsable(device, Wording.of("use %s host", Term.ENGINE));
        return device;
    }

    private static DeviceInfo chosen(EngineSettings settings) {
        requireRuntime(settings.engine());
        return TornadoDevices.choose(backend(settings.engine()), settings.device(), settings.math());
    }

    /** Whether the device that these settings choose is worth computing on, and can in strict mode. */
    static boolean findsFastDevice(EngineSettings settings) {
        try {
            DeviceInfo device = chosen(settings);
            return device.kind().isFast() && settings.probes().of(device).isExact();
        } catch (DeviceException _) {
            return false;
        }
    }

    /** The module is there where the SDK's launcher has started the JVM. */
    private static boolean isRuntimeThere() {
        return ModuleLayer.boot().findModule(RUNTIME).isPresent();
    }

    private static void requireRuntime(EngineKind engine) {
        if (!isRuntimeThere()) {
            throw new DeviceException(Wording.of(
                    "%s %s: no TornadoVM SDK was found: %s says how to get one; %s %s needs none",
                    Term.ENGINE, engine, Term.TORNADO_HELP, Term.ENGINE, EngineKind.HOST));
        }
    }

    private static Optional<Backend> backend(EngineKind engine) {
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
