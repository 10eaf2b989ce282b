package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.DeviceLimits;
import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.Emulator;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;

/** Without any one of its transfers the engine fails, or gives other logits: none is there for nothing. */
@OnEmulator
class ForgottenTransferTest {
    private static final int ROWS = 16;
    private static final ModelConfig GPT2 = new Gpt2Config(new Sizes(19, 80, 12, 20, 2), 2, 1e-5f, true, true);
    private static final ModelConfig GPT2_OF_THREE = new Gpt2Config(new Sizes(19, 80, 12, 20, 3), 2, 1e-5f, true, true);

    /** A device whose buffers hold two layers of the cache, but not three. */
    private static final DeviceLimits SMALL_BUFFERS = new DeviceLimits(TornadoDeviceType.GPU, 1L << 20, 8000, 64, true);

    private static final ModelConfig LLAMA = new LlamaConfig(
            new Sizes(19, 80, 12, 20, 2),
            new Heads(2, 1, 6),
            new Rope(10000, 6, new RopeScaling.None()),
            1e-6f,
            false,
            false,
            false);

    private static final Program TWO_KINDS = LayerKinds.mixed(new LlamaConfig(
                    new Sizes(19, 80, 12, 20, 3),
                    new Heads(2, 1, 6),
                    new Rope(10000, 6, new RopeScaling.None()),
                    1e-6f,
                    false,
                    false,
                    false)
            .program(80));

    /** A way of running a model. */
    record Setup(
            String name,
            Program program,
            Weights weights,
            GraphMode graph,
            int rows,
            boolean traced,
            DeviceLimits limits) {
        static Setup of(String name, ModelConfig config, GraphMode graph, int rows, boolean traced) {
            return of(name, config, graph, rows, traced, DeviceLimits.DEFAULT);
        }

        static Setup of(
                String name, ModelConfig config, GraphMode graph, int rows, boolean traced, DeviceLimits limits) {
            return of(name, config.program(config.contextLength()), graph, rows, traced, limits);
        }

        static Setup of(String name, Program program, GraphMode graph, int rows, boolean traced, DeviceLimits limits) {
            Weights weights = RandomModels.weights(program, DType.F32, new RandomData(7));
            return new Setup(name, program, weights, graph, rows, traced, limits);
        }

        static Stream<Setup> all() {
            return Stream.of(
                    of("gpt2 layered", GPT2, GraphMode.LAYERED, ROWS, false),
                    of("gpt2 fused", GPT2, GraphMode.FUSED, 1, false),
                    of("gpt2 traced", GPT2, GraphMode.LAYERED, 1, true),
                    of("gpt2 layered, two groups", GPT2_OF_THREE, GraphMode.LAYERED, 1, false, SMALL_BUFFERS),
                    of("gpt2 fused, two groups", GPT2_OF_THREE, GraphMode.FUSED, 1, false, SMALL_BUFFERS),
                    of("llama layered", LLAMA, GraphMode.LAYERED, ROWS, false),
                    of("llama layered, single rows", LLAMA, GraphMode.LAYERED, 1, false),
                    of("llama fused, prefill", LLAMA, GraphMode.FUSED, ROWS, false),
                    of("two kinds", TWO_KINDS, GraphMode.LAYERED, ROWS, false, DeviceLimits.DEFAULT),
                    of("two kinds, two groups", TWO_KINDS, GraphMode.LAYERED, 1, false, SMALL_BUFFERS));
        }

        <T> T onDevice(Function<DeviceInfo, T> action) {
            return Emulator.call(
                    new EmulatedDevice(limits),
                    () -> action.apply(TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT)));
        }

        List<DeviceGraph> graphs() {
            return onDevice(device -> {
                DeviceModel model = DeviceModel.of(program, DType.F32, MathMode.STRICT, device);
                return new GraphSet(model, graph, rows, traced).graphs();
            });
        }
    }

    /** The transfer of a graph, by its place among the graph's. */
    record Cut(
            Setup setup,
            String graph,
            int index,
            DeviceTransfer.Movement movement,
            ArrayKey<?> array,
            boolean essential) {
        boolean keeps(DeviceGraph candidate, DeviceTransfer transfer) {
            return !candidate.name().equals(graph) || candidate.transfers().indexOf(transfer) != index;
        }

        @Override
        public String toString() {
            return setup.name() + ": " + movement + " of " + array + " in " + graph;
        }
    }

    static Stream<Cut> cuts() {
        return Setup.all().flatMap(setup -> setup.graphs().stream().flatMap(graph -> cuts(setup, graph)));
    }

    private static Stream<Cut> cuts(Setup setup, DeviceGraph graph) {
        List<Cut> cuts = new ArrayList<>();
        for (DeviceTransfer transfer : graph.transfers()) {
            cuts.add(new Cut(
                    setup, graph.name(), cuts.size(), transfer.movement(), transfer.array(), transfer.essential()));
        }
        return cuts.stream();
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void isNoticed(Cut cut) {
        assertThat(givesTheHostsLogits(cut.setup(), cut::keeps))
                .as(cut.toString())
                .isEqualTo(!cut.essential());
    }

    private static boolean givesTheHostsLogits(Setup setup, BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        return setup.onDevice(device -> Stream.of(new int[] {3, 40, 5, 1, 5, 1}, new int[] {37, 1, 1})
                .allMatch(lengths -> givesTheHostsLogits(setup, device, kept, lengths)));
    }

    private static boolean givesTheHostsLogits(
            Setup setup, DeviceInfo device, BiPredicate<DeviceGraph, DeviceTransfer> kept, int[] lengths) {
        DeviceOptions options =
                DeviceOptions.of(device).withGraph(setup.graph()).withPrefillRows(setup.rows());
        try (TornadoForwardPass engine =
                TornadoForwardPass.open(setup.program(), DType.F32, _ -> setup.weights(), options, kept)) {
            if (setup.traced()) {
                engine.trace((_, _, _, _, _) -> {});
            }
            return Arrays.deepEquals(logits(engine, lengths), expected(setup, lengths));
        } catch (RuntimeException _) {
            return false;
        }
    }

    private static float[][] expected(Setup setup, int[] lengths) {
        try (ForwardPass host = new HostForwardPass(setup.program(), setup.weights(), new ScalarOps())) {
            return logits(host, lengths);
        }
    }

    /** The logits after each of several texts that follow one another. */
    private static float[][] logits(ForwardPass engine, int[] lengths) {
        RandomData data = new RandomData(5);
        float[][] logits = new float[lengths.length][];
        int position = 0;
        for (int i = 0; i < lengths.length; i++) {
            int[] text = data.ints(lengths[i], engine.program().vocabSize());
            logits[i] = engine.forward(text, position).clone();
            position += lengths[i];
        }
        return logits;
    }
}
