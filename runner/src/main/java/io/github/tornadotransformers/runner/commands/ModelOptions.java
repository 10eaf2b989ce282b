package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine.Option;

/** The options that say how a model runs, whatever the engine. */
class ModelOptions {
    private static final int MAX_THREADS = 1024;

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
            names = "--context",
            paramLabel = "N",
            description = "positions to make room for (default: the model's, at most 2048)")
    Integer context;

    @Option(
            names = "--math",
            paramLabel = "MODE",
            description = "strict (bit for bit; default), or fast (may fuse and approximate)")
    MathMode math = MathMode.STRICT;

    @Option(
            names = "--graph",
            paramLabel = "MODE",
            description = "task graphs: layered (one block, replayed; default), or fused")
    GraphMode graph = GraphMode.LAYERED;

    /**
     * The settings of an engine; options that another kind of engine takes are left out.
     *
     * @throws Failure if a value is out of range
     */
    EngineSettings settingsFor(EngineKind each) {
        if (device != null && !device.matches("\\d{1,4}:\\d{1,4}")) {
            throw Failure.usage("--device is " + device + ", expected two numbers as in 0:1");
        }
        if (threads != null && (threads < 1 || threads > MAX_THREADS)) {
            throw Failure.usage("--threads is " + threads + ", expected 1 to " + MAX_THREADS);
        }
        return new EngineSettings(
                each,
                Optional.ofNullable(device).filter(_ -> each.onDevice()),
                math,
                Optional.ofNullable(dtype),
                optional(context),
                each == EngineKind.HOST ? optional(threads) : OptionalInt.empty(),
                graph);
    }

    private static OptionalInt optional(Integer value) {
        return value == null ? OptionalInt.empty() : OptionalInt.of(value);
    }
}
