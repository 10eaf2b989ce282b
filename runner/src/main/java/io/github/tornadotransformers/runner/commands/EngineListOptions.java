package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import io.github.tornadotransformers.taskgraphs.probe.DeviceProbes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** The options of {@link EngineOptions}, where a list runs every combination. */
final class EngineListOptions {
    @Option(
            names = {"-e", "--engine"},
            paramLabel = "ENGINE",
            split = ",",
            hideParamSyntax = true,
            description = "as for the other commands; --kernels takes host and scalar")
    List<EngineKind> engines = List.of(EngineKind.HOST);

    @Option(
            names = "--device",
            paramLabel = "D:I",
            description =
                    "which TornadoVM device, as `transformers devices` lists them; with --predict a GPU: h200, h100, a100,"
                            + " rtx4090")
    String device;

    @Option(
            names = "--threads",
            paramLabel = "N",
            split = ",",
            hideParamSyntax = true,
            description = "threads of the host engine (default: all cores)")
    List<Integer> threads = List.of();

    @Option(
            names = "--dtype",
            paramLabel = "TYPE",
            split = ",",
            hideParamSyntax = true,
            description =
                    "weights in memory: f32, bf16, f16, int8 (default: as stored, f32 for a shape, all for --kernels)")
    List<DType> dtypes = List.of();

    @Option(names = "--math", paramLabel = "MODE", description = "strict (bit for bit; default), or fast")
    MathMode math = MathMode.STRICT;

    @Option(names = "--graph", paramLabel = "MODE", description = "task graphs: layered (default), or fused")
    GraphMode graph = GraphMode.LAYERED;

    /**
     * An engine as it is to run.
     *
     * @param threads that compute; 0 on a device
     */
    record Choice(EngineSettings settings, int threads) {
        EngineKind engine() {
            return settings.engine();
        }
    }

    /** @throws Failure if options contradict each other or a value is out of range */
    List<Choice> choices() {
        if (!threads.isEmpty() && !engines.contains(EngineKind.HOST)) {
            throw Failure.usage("--threads is for the engine host, and the engine is " + words());
        }
        if (device != null && engines.stream().noneMatch(EngineKind::onDevice)) {
            throw Failure.usage("--device is for the engines on a device, and the engine is " + words());
        }
        DeviceProbes probes = new DeviceProbes();
        List<Choice> choices = new ArrayList<>();
        for (EngineKind engine : engines) {
            if (engine == EngineKind.HOST) {
                threads().forEach(each -> choices.add(new Choice(settings(engine, each), each)));
            } else {
                EngineSettings settings = settings(engine, null).withProbes(probes);
                choices.add(new Choice(settings, engine.onDevice() ? 0 : 1));
            }
        }
        return choices;
    }

    private String words() {
        return engines.stream().map(EngineKind::toString).collect(Collectors.joining(", "));
    }

    private List<Integer> threads() {
        return threads.isEmpty() ? List.of(Runtime.getRuntime().availableProcessors()) : threads;
    }

    private EngineSettings settings(EngineKind engine, Integer count) {
        ModelOptions one = new ModelOptions();
        one.device = device;
        one.threads = count;
        one.math = math;
        one.graph = graph;
        return one.settingsFor(engine);
    }
}
