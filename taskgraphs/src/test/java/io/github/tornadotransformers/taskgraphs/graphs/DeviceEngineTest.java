package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.Candidates;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.NonFiniteLogitException;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.taskgraphs.devices.CompileListener;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.Generations;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import io.github.tornadotransformers.testsupport.RankedTokens;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;

/** The device engine, on the emulator, gives the host's bits for random models: every graph mode, type, and chunk of rows. */
@OnEmulator
class DeviceEngineTest {
    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    /** A random model with its host engine and its device engine. */
    private record Pair(RandomData data, Program program, ForwardPass host, TornadoForwardPass device)
            implements AutoCloseable {
        static Pair of(long seed) {
            RandomData data = new RandomData(seed);
            ModelConfig config = RandomConfigs.of(data);
            Program program = config.program(config.contextLength());
            DType dtype = DType.OF_MATRICES.get((int) (seed % 4));
            GraphMode graph = seed % 3 == 0 ? GraphMode.FUSED : GraphMode.LAYERED;
            Weights weights = RandomModels.weights(program, dtype, data);
            DeviceOptions options = DeviceOptions.of(
                            TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT))
                    .withGraph(graph)
                    .withPrefillRows(data.between(1, 17));
            return new Pair(
                    data,
                    program,
                    new HostForwardPass(program, weights, new ScalarOps()),
                    TornadoForwardPass.open(program, dtype, _ -> weights, options));
        }

        int[] text(int longest) {
            return data.ints(data.between(1, Math.min(longest, program.contextLength())), program.vocabSize());
        }

        @Override
        public void close() {
            host.close();
            device.close();
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void logitsOfAPromptAndOfTokensAfterIt(long seed) {
        try (Pair pair = Pair.of(seed)) {
            int[] prompt = pair.text(40);
            Bits.assertSame(
                    "prompt", pair.device().forward(prompt, 0), pair.host().forward(prompt, 0));
            int end = Math.min(prompt.length + 4, pair.program().contextLength());
            for (int position = prompt.length; position < end; position++) {
                int[] token = pair.data().ints(1, pair.program().vocabSize());
                Bits.assertSame(
                        "position " + position,
                        pair.device().forward(token, position),
                        pair.host().forward(token, position));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void logitsOfEveryPosition(long seed) {
        try (Pair pair = Pair.of(seed)) {
            int[] text = pair.text(30);
            float[][] expected = new float[text.length][];
            pair.host().forwardAll(text, 0, (position, logits, offset) -> {
                expected[position] = Arrays.copyOfRange(
                        logits, offset, offset + pair.program().vocabSize());
            });
            int[] seen = {0};
            pair.device().forwardAll(text, 0, (position, logits, offset) -> {
                float[] actual = Arrays.copyOfRange(
                        logits, offset, offset + pair.program().vocabSize());
                Bits.assertSame("position " + position, actual, expected[position]);
                seen[0]++;
            });
            assertThat(seen[0]).isEqualTo(text.length);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyTracePoint(long seed) {
        try (Pair pair = Pair.of(seed)) {
            TracePoints host = new TracePoints();
            TracePoints device = new TracePoints();
            pair.host().trace(host);
            pair.device().trace(device);
            int[] text = pair.text(30);
            pair.host().forward(text, 0);
            pair.device().forward(text, 0);
            assertThat(device.rows().keySet())
                    .containsExactlyInAnyOrderElementsOf(host.rows().keySet());
            host.rows()
                    .forEach((point, expected) ->
                            Bits.assertSame(point.toString(), device.rows().get(point), expected));
        }
    }

    /** A GPU has kernels of its own, for a single row and for many. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    void logitsOnAGpu(long seed) {
        Emulator.run(new EmulatedDevice(DeviceLimits.GPU), () -> {
            try (Pair pair = Pair.of(seed)) {
                int[] prompt = pair.text(20);
                Bits.assertSame(
                        "prompt", pair.device().forward(prompt, 0), pair.host().forward(prompt, 0));
                requireCandidates(pair, prompt, 1);
                requireCandidates(pair, prompt, Math.min(7, pair.program().vocabSize()));
                int[] text = pair.text(5);
                for (int position = 0; position < text.length; position++) {
                    int[] token = {text[position]};
                    Bits.assertSame(
                            "position " + position,
                            pair.device().forward(token, position),
                            pair.host().forward(token, position));
                }
            }
        });
    }

    private static void requireCandidates(Pair pair, int[] prompt, int count) {
        float[] logits = pair.host().forward(prompt, 0);
        Candidates expected = RankedTokens.of(logits, 0, pair.program().vocabSize(), count);
        List<Candidates> found = new ArrayList<>();
        pair.device().forward(prompt, 0, count, new ForwardPass.LogitsSink() {
            @Override
            public void accept(int position, float[] all, int offset) {
                throw new AssertionError("logits at position " + position);
            }

            @Override
            public void acceptCandidates(int position, Candidates candidates) {
                assertThat(position).isEqualTo(prompt.length - 1);
                found.add(candidates);
            }
        });
        assertThat(found).hasSize(1);
        assertThat(found.getFirst().ids()).containsExactly(expected.ids());
        Bits.assertSame("candidates", found.getFirst().logits(), expected.logits());
    }

    /** The device says that there is no likeliest token, and the logits say why. */
    @ParameterizedTest
    @EnumSource(GraphMode.class)
    void aLogitThatIsNotFiniteIsNamed(GraphMode graph) {
        ModelConfig config = new Gpt2Config(new Sizes(19, 40, 8, 16, 2), 2, 1e-5f, true, true);
        Program program = config.program(40);
        Weights weights = RandomModels.weights(program, DType.F32, new RandomData(3));
        Weight table = program.weights().stream()
                .filter(weight -> weight.columns() == 19)
                .findFirst()
                .orElseThrow();
        weights.get(table).layer(0).setAtIndex(ValueLayout.JAVA_FLOAT, 7, Float.NaN);
        Emulator.run(new EmulatedDevice(DeviceLimits.GPU), () -> {
            DeviceInfo info = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
            DeviceOptions options = DeviceOptions.of(info).withGraph(graph);
            try (ForwardPass device = TornadoForwardPass.open(program, DType.F32, _ -> weights, options)) {
                SamplingOptions few = new SamplingOptions(0.9, 5, 1, 0, 1, 42, false);
                for (SamplingOptions sampling : List.of(SamplingOptions.GREEDY, few)) {
                    assertThatThrownBy(() -> Generations.sampled(
                                    device, new int[] {3, 4}, sampling, GenerationOptions.ofTokens(2)))
                            .isInstanceOf(NonFiniteLogitException.class)
                            .hasMessageContaining("logit 7 at position 1 is NaN");
                }
            }
        });
    }

    /** Weights that are loaded in place, into arrays of which each holds a part of the layers. */
    @ParameterizedTest
    @ValueSource(longs = {4200, 9000, 13_000, 1_000_000})
    void layersInGroups(long maxAllocationBytes) {
        ModelConfig config = new Gpt2Config(new Sizes(19, 40, 8, 16, 5), 2, 1e-5f, true, true);
        Program program = config.program(40);
        Weights weights = RandomModels.weights(program, DType.BF16, new RandomData(3));
        DeviceLimits limits = new DeviceLimits(TornadoDeviceType.GPU, 1L << 20, maxAllocationBytes, 64, true);
        Emulator.run(new EmulatedDevice(limits), () -> {
            DeviceInfo info = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
            try (ForwardPass host = new HostForwardPass(program, weights, new ScalarOps());
                    TornadoForwardPass device = TornadoForwardPass.open(
                            program,
                            DType.BF16,
                            memory -> copy(program, weights, memory),
                            DeviceOptions.of(info).withPrefillRows(4))) {
                int[] text = new RandomData(4).ints(30, 19);
                Bits.assertSame("logits", device.forward(text, 0), host.forward(text, 0));
            }
        });
    }

    @Test
    void kernelsAreToldOfAsTheyAreCompiled() {
        Program program = new Gpt2Config(new Sizes(19, 40, 8, 16, 5), 2, 1e-5f, true, true).program(40);
        Weights weights = RandomModels.weights(program, DType.F32, new RandomData(3));
        DeviceInfo info = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
        Told told = new Told();
        DeviceOptions options = DeviceOptions.of(info).withPrefillRows(1).withCompileListener(told);
        try (TornadoForwardPass device = TornadoForwardPass.open(program, DType.F32, _ -> weights, options)) {
            device.forward(new int[] {1, 2}, 0);
            assertThat(told.done).startsWith(0).isSorted().doesNotHaveDuplicates();
            assertThat(told.done.getLast()).isLessThan(told.all);
            assertThat(told.all).isEqualTo(device.kernelsCompiled());
            assertThat(told.ended).isEqualTo(told.done.size());
            int before = told.ended;
            device.forward(new int[] {3}, 2);
            assertThat(told.ended).as("after all have been compiled").isEqualTo(before);
        }
    }

    private static final class Told implements CompileListener {
        private final List<Integer> done = new ArrayList<>();
        private int all;
        private int ended;

        @Override
        public void compiling(int already, int ofAll) {
            done.add(already);
            all = ofAll;
        }

        @Override
        public void compiled() {
            ended++;
        }
    }

    /** Layers of two kinds, whose weights share arrays, in one group and in several. */
    @ParameterizedTest
    @CsvSource({
        "4, LAYERED, 1, 1000000",
        "5, LAYERED, 4, 1000000",
        "4, FUSED, 4, 1000000",
        "5, LAYERED, 4, 4000",
        "4, LAYERED, 4, 2500",
        "5, FUSED, 1, 2500"
    })
    void layersOfTwoKinds(int layers, GraphMode graph, int rows, long maxAllocationBytes) {
        ModelConfig config = new LlamaConfig(
                new Sizes(19, 40, 8, 16, layers),
                new Heads(2, 1, 4),
                new Rope(10000, 4, new RopeScaling.None()),
                1e-6f,
                false,
                false,
                false);
        Program program = LayerKinds.mixed(config.program(40));
        assertThat(program.kinds()).hasSize(2);
        Weights weights = RandomModels.weights(program, DType.F32, new RandomData(3));
        DeviceLimits limits = new DeviceLimits(TornadoDeviceType.GPU, 1L << 20, maxAllocationBytes, 64, true);
        Emulator.run(new EmulatedDevice(limits), () -> {
            DeviceInfo info = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
            DeviceOptions options = DeviceOptions.of(info).withGraph(graph).withPrefillRows(rows);
            try (ForwardPass host = new HostForwardPass(program, weights, new ScalarOps());
                    TornadoForwardPass device = TornadoForwardPass.open(program, DType.F32, _ -> weights, options);
                    TornadoForwardPass traced = TornadoForwardPass.open(program, DType.F32, _ -> weights, options)) {
                TracePoints expected = new TracePoints();
                TracePoints actual = new TracePoints();
                host.trace(expected);
                traced.trace(actual);
                int[] text = new RandomData(4).ints(30, 19);
                float[] logits = host.forward(text, 0);
                Bits.assertSame("logits", device.forward(text, 0), logits);
                Bits.assertSame("logits", traced.forward(text, 0), logits);
                expected.rows()
                        .forEach((point, row) ->
                                Bits.assertSame(point.toString(), actual.rows().get(point), row));
            }
        });
    }

    private static Weights copy(Program program, Weights weights, WeightAllocator memory) {
        Map<Weight, WeightData> copies = new HashMap<>();
        for (Weight weight : program.weights()) {
            WeightData data = weights.get(weight);
            WeightData copy = new WeightData(
                    weight,
                    data.dtype(),
                    data.layout(),
                    memory.allocateLayers(
                            weight.name(), weight.layers(), data.layer(0).byteSize()),
                    data.scales());
            for (int layer = 0; layer < weight.layers(); layer++) {
                copy.layer(layer).copyFrom(data.layer(layer));
            }
            copies.put(weight, copy);
        }
        return new Weights(copies);
    }
}
