package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.taskgraphs.devices.CompileListener;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import io.github.tornadotransformers.taskgraphs.probe.DeviceProbes;
import java.util.Optional;
import java.util.OptionalInt;

/** How an engine is to run a model. What is not said has a default that fits the model and the machine. */
public final class EngineSettings {
    /** More than any machine has processors, and few enough to be started. */
    private static final int MAX_THREADS = 1024;

    private final EngineKind engine;
    private final Optional<DeviceId> device;
    private final MathMode math;
    private final Optional<DType> dtype;
    private final OptionalInt context;
    private final OptionalInt threads;
    private final GraphMode graph;
    private final CompileListener compiling;
    private final DeviceProbes probes;

    private EngineSettings(
            EngineKind engine,
            Optional<DeviceId> device,
            MathMode math,
            Optional<DType> dtype,
            OptionalInt context,
            OptionalInt threads,
            GraphMode graph,
            CompileListener compiling,
            DeviceProbes probes) {
        this.engine = engine;
        this.device = device;
        this.math = math;
        this.dtype = dtype;
        this.context = context;
        this.threads = threads;
        this.graph = graph;
        this.compiling = compiling;
        this.probes = probes;
    }

    /** An engine, and what it does when nothing else is said. */
    public static EngineSettings of(EngineKind engine) {
        return new EngineSettings(
                engine,
                Optional.empty(),
                MathMode.STRICT,
                Optional.empty(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                GraphMode.LAYERED,
                CompileListener.NONE,
                new DeviceProbes());
    }

    /**
     * The engine that is fast here: a device where TornadoVM has started the JVM and reaches a GPU or the like that can run in
     * strict mode, else the host.
     */
    public static EngineSettings automatic() {
        EngineSettings onDevice = of(EngineKind.TORNADO);
        return DeviceEngine.findsFastDevice(onDevice) ? onDevice : of(EngineKind.HOST);
    }

    public EngineKind engine() {
        return engine;
    }

    /** Which of TornadoVM's devices; empty: the first fast one, else the first. */
    public Optional<DeviceId> device() {
        return device;
    }

    /** What arithmetic a device may do; the engines of the host know one only. */
    public MathMode math() {
        return math;
    }

    /** Of the matrices in memory; empty: as the checkpoint stores them. */
    public Optional<DType> dtype() {
        return dtype;
    }

    /** Positions that a sequence can hold; empty: the smaller of the model's and 2048. */
    public OptionalInt context() {
        return context;
    }

    /** Of engine host; empty: one a processor. */
    public OptionalInt threads() {
        return threads;
    }

    /** How a program is cut into a device's task graphs. */
    public GraphMode graph() {
        return graph;
    }

    /** Is told of kernels as they are compiled for a device. */
    public CompileListener compiling() {
        return compiling;
    }

    /** Whether devices can compute in strict mode: settings that are made of these share it. */
    public DeviceProbes probes() {
        return probes;
    }

    /** @throws InvalidRequest if the engine runs on no device */
    public EngineSettings withDevice(DeviceId id) {
        if (!engine.onDevice()) {
            throw new InvalidRequest(
                    Wording.of("%s is for the engines on a device, and the engine is %s", Term.DEVICE, engine));
        }
        return new EngineSettings(engine, Optional.of(id), math, dtype, context, threads, graph, compiling, probes);
    }

    public EngineSettings withMath(MathMode mode) {
        return new EngineSettings(engine, device, mode, dtype, context, threads, graph, compiling, probes);
    }

    public EngineSettings withDType(DType type) {
        return new EngineSettings(engine, device, math, Optional.of(type), context, threads, graph, compiling, probes);
    }

    public EngineSettings withCompileListener(CompileListener listener) {
        return new EngineSettings(engine, device, math, dtype, context, threads, graph, listener, probes);
    }

    /** With what other settings have found out about devices. */
    public EngineSettings withProbes(DeviceProbes known) {
        return new EngineSettings(engine, device, math, dtype, context, threads, graph, compiling, known);
    }

    /** Whether the model has so many positions is checked when it is loaded. */
    public EngineSettings withContext(int positions) {
        return new EngineSettings(
                engine, device, math, dtype, OptionalInt.of(positions), threads, graph, compiling, probes);
    }

    /** @throws InvalidRequest if the engine is not host, or the number not 1 to 1024 */
    public EngineSettings withThreads(int count) {
        if (engine != EngineKind.HOST) {
            throw new InvalidRequest(
                    Wording.of("%s is for the engine host, and the engine is %s", Term.THREADS, engine));
        }
        if (count < 1 || count > MAX_THREADS) {
            throw new InvalidRequest(Wording.of("%s is %d, expected 1 to %d", Term.THREADS, count, MAX_THREADS));
        }
        return new EngineSettings(
                engine, device, math, dtype, context, OptionalInt.of(count), graph, compiling, probes);
    }

    public EngineSettings withGraph(GraphMode mode) {
        return new EngineSettings(engine, device, math, dtype, context, threads, mode, compiling, probes);
    }
}
