package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options that say how a model runs, whatever the engine. */
class ModelOptions {
    @Option(
            names = "--device",
            paramLabel = "D:I",
            description = "which TornadoVM device, as `transformers devices` lists them")
    String device;

    @Option(names = "--threads", paramLabel = "N", description = "threads of the host engine (default: all cores)")
    Integer threads;

    @Option(
            names = "--dtype",
            paramLabel = "TYPE",
            description = "weights in memory: f32, bf16, f16, int8 (default: as stored)")
    DType dtype;

    @Option(
            names = "--kv-dtype",
            paramLabel = "TYPE",
            description = "keys and values in memory: f32 (default), bf16, f16: rounded when they are stored")
    KvType kvDType;

    @Option(
            names = "--context",
            paramLabel = "N",
            description = "positions to make room for (default: the model's, at most 2048)")
    Integer context;

    @Option(
            names = "--cache-memory",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description =
                    "memory for the keys and values of all sequences, such as 512M or 2G (default: what they need)")
    Long cacheMemory;

    @Option(
            names = "--math",
            paramLabel = "MODE",
            description = "strict (bit for bit; default), or fast (may approximate)")
    MathMode math = MathMode.STRICT;

    @Option(
            names = "--graph",
            paramLabel = "MODE",
            description = "task graphs: layered (one block, replayed; default), or fused")
    GraphMode graph = GraphMode.LAYERED;

    /**
     * The settings of an engine; options that another kind of engine takes are left out.
     *
     * @throws InvalidRequest if a value is out of range
     */
    EngineSettings settingsFor(EngineKind each) {
        Optional<DeviceId> id = Optional.ofNullable(device).map(DeviceId::parse);
        EngineSettings settings = EngineSettings.of(each).withMath(math).withGraph(graph);
        if (id.isPresent() && each.onDevice()) {
            settings = settings.withDevice(id.get());
        }
        if (dtype != null) {
            settings = settings.withDType(dtype);
        }
        if (kvDType != null) {
            settings = settings.withKvType(kvDType);
        }
        if (context != null) {
            settings = settings.withContext(context);
        }
        if (cacheMemory != null) {
            settings = settings.withCacheBytes(cacheMemory);
        }
        return threads != null && each == EngineKind.HOST ? settings.withThreads(threads) : settings;
    }
}
