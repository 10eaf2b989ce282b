package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.taskgraphs.devices.CompileListener;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import io.github.tornadotransformers.taskgraphs.probe.DeviceProbes;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** How an engine is to run a model. What is not said has a default that fits the model and the machine. */
public final class EngineSettings {
    /** More than any machine has processors, and few enough to be started. */
    private static final int MAX_THREADS = 1024;

    private final EngineKind engine;
    private Optional<DeviceId> device = Optional.empty();
    private MathMode math = MathMode.STRICT;
    private Optional<DType> dtype = Optional.empty();
    private KvType kvType = KvType.F32;
    private OptionalInt context = OptionalInt.empty();
    private OptionalInt threads = OptionalInt.empty();
    private int sequences = 1;
    private OptionalLong cacheBytes = OptionalLong.empty();
    private GraphMode graph = GraphMode.LAYERED;
    private CompileListener compiling = CompileListener.NONE;
    private DeviceProbes probes = new DeviceProbes();
    private Optional<Path> packs = Optional.empty();
    private Consumer<String> packNotices = _ -> {};

    private EngineSettings(EngineKind engine) {
        this.engine = engine;
    }

    /** An engine, and what it does when nothing else is said. */
    public static EngineSettings of(EngineKind engine) {
        return new EngineSettings(engine);
    }

    /** Others, with one change; nobody sees these before it is made. */
    private EngineSettings with(Consumer<EngineSettings> change) {
        EngineSettings others = new EngineSettings(engine);
        others.device = device;
        others.math = math;
        others.dtype = dtype;
        others.kvType = kvType;
        others.context = context;
        others.threads = threads;
        others.sequences = sequences;
        others.cacheBytes = cacheBytes;
        others.graph = graph;
        others.compiling = compiling;
        others.probes = probes;
        others.packs = packs;
        others.packNotices = packNotices;
        change.accept(others);
        return others;
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

    /** Of keys and values in memory. */
    public KvType kvType() {
        return kvType;
    }

    /** Positions that a sequence can hold; empty: the smaller of the model's and 2048. */
    public OptionalInt context() {
        return context;
    }

    /** Of engine host; empty: one a processor. */
    public OptionalInt threads() {
        return threads;
    }

    /** How many sequences are to run together: there is memory for the keys and values of so many, as far as the machine has it. */
    public int sequences() {
        return sequences;
    }

    /** Memory for the keys and values of all sequences; empty: what {@link #sequences} need. */
    public OptionalLong cacheBytes() {
        return cacheBytes;
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

    /** Where checkpoints' weights are kept as the engines of the host have them in memory; empty: nowhere. */
    public Optional<Path> packs() {
        return packs;
    }

    /** Is told, a line each, why a pack is made again, or cannot be. */
    public Consumer<String> packNotices() {
        return packNotices;
    }

    /** @throws InvalidRequest if the engine runs on no device */
    public EngineSettings withDevice(DeviceId id) {
        if (!engine.onDevice()) {
            throw new InvalidRequest(
                    Wording.of("%s is for the engines on a device, and the engine is %s", Term.DEVICE, engine));
        }
        return with(each -> each.device = Optional.of(id));
    }

    public EngineSettings withMath(MathMode mode) {
        return with(each -> each.math = mode);
    }

    public EngineSettings withDType(DType type) {
        return with(each -> each.dtype = Optional.of(type));
    }

    public EngineSettings withKvType(KvType type) {
        return with(each -> each.kvType = type);
    }

    public EngineSettings withCompileListener(CompileListener listener) {
        return with(each -> each.compiling = listener);
    }

    /** With what other settings have found out about devices. */
    public EngineSettings withProbes(DeviceProbes known) {
        return with(each -> each.probes = known);
    }

    /** Whether the model has so many positions is checked when it is loaded. */
    public EngineSettings withContext(int positions) {
        return with(each -> each.context = OptionalInt.of(positions));
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
        return with(each -> each.threads = OptionalInt.of(count));
    }

    /** @throws InvalidRequest if it is less than 1 */
    public EngineSettings withSequences(int count) {
        if (count < 1) {
            throw new InvalidRequest(Wording.of("%s is %d, expected 1 or more", Term.SEQUENCES, count));
        }
        return with(each -> each.sequences = count);
    }

    /** @throws InvalidRequest if it is less than 1 */
    public EngineSettings withCacheBytes(long bytes) {
        if (bytes < 1) {
            throw new InvalidRequest(Wording.of("%s is %d, expected 1 or more bytes", Term.CACHE_MEMORY, bytes));
        }
        return with(each -> each.cacheBytes = OptionalLong.of(bytes));
    }

    public EngineSettings withGraph(GraphMode mode) {
        return with(each -> each.graph = mode);
    }

    /**
     * With weights from a {@link io.github.tornadotransformers.models.checkpoint.WeightPack}, on the engines of the host: the first
     * load writes one, of the weights' size, and those after it map it.
     *
     * @param folder of packs, made where needed
     * @param notices is told, a line each, why a pack is made again, or cannot be
     */
    public EngineSettings withPacks(Path folder, Consumer<String> notices) {
        return with(each -> {
            each.packs = Optional.of(folder);
            each.packNotices = notices;
        });
    }
}
