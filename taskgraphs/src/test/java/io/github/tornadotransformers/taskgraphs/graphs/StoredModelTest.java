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
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;

/** Models whose tensors are kept as they are stored, of formats that differ from layer to layer and side by side: the host's bits. */
@OnEmulator
class StoredModelTest {
    private static final List<BlockFormat> K_QUANTS = List.of(BlockFormat.Q4_K, BlockFormat.Q6_K, BlockFormat.Q5_K);

    /** What a file has that was not made for blocks of 256: some matrices in Q4_0 beside Q8_0 and others. */
    private static final List<BlockFormat> SMALL_BLOCKS = List.of(
            BlockFormat.Q4_0, BlockFormat.Q5_1, BlockFormat.Q8_0, BlockFormat.Q4_K, BlockFormat.Q5_0, BlockFormat.Q4_1);

    private static LlamaConfig config(int hidden, int intermediate, int layers, boolean tied) {
        return new LlamaConfig(
                new Sizes(61, 40, hidden, intermediate, layers),
                new Heads(4, 2, hidden / 4),
                new Rope(10_000, hidden / 4, new RopeScaling.None()),
                1e-5f,
                tied,
                false,
                false);
    }

    private static RandomModel model(String formats, int layers, boolean tied) {
        return switch (formats) {
            case "K" -> new RandomModel(config(256, 512, layers, tied), 5, K_QUANTS);
            case "SMALL" -> new RandomModel(config(64, 96, layers, tied), 6, SMALL_BLOCKS);
            case "ODD" ->
                new RandomModel(config(32, 44, layers, tied), 7, List.of(BlockFormat.Q8_0)); // 44 are no blocks
            default -> throw new IllegalArgumentException(formats);
        };
    }

    @ParameterizedTest
    @CsvSource({
        "K, 3, true, LAYERED, 8, CPU, 10000000",
        "K, 4, false, FUSED, 1, GPU, 10000000",
        "K, 4, true, LAYERED, 17, GPU, 10000000",
        "K, 4, false, LAYERED, 4, GPU, 1500000",
        "SMALL, 7, false, LAYERED, 5, CPU, 10000000",
        "SMALL, 7, true, FUSED, 9, GPU, 10000000",
        "SMALL, 7, true, LAYERED, 9, GPU, 50000",
        "ODD, 2, true, LAYERED, 3, CPU, 10000000",
        "ODD, 2, false, FUSED, 3, GPU, 10000000",
    })
    void logitsAndEveryTracePoint(
            String formats, int layers, boolean tied, GraphMode graph, int rows, TornadoDeviceType type, long most) {
        RandomModel model = model(formats, layers, tied);
        Program program = model.config().program(40);
        WeightSource source = WeightSource.of(model, program, DType.STORED);
        DeviceLimits limits = new DeviceLimits(type, 1L << 30, most, 64, true);
        Emulator.run(new EmulatedDevice(limits), () -> {
            DeviceOptions options = options().withGraph(graph).withPrefillRows(rows);
            try (Arena arena = Arena.ofShared();
                    ForwardPass host = host(model, program, arena);
                    ForwardPass device = TornadoForwardPass.open(program, DType.STORED, source, options);
                    ForwardPass traced = TornadoForwardPass.open(program, DType.STORED, source, options)) {
                TracePoints expected = new TracePoints();
                TracePoints actual = new TracePoints();
                host.trace(expected);
                traced.trace(actual);
                int[] text = new RandomData(4).ints(33, 61);
                float[] logits = host.forward(text, 0);
                assertThat(logits).doesNotContain(Float.NaN);
                Bits.assertSame("traced", traced.forward(text, 0), logits);
                expected.rows()
                        .forEach((point, row) ->
                                Bits.assertSame(point.toString(), actual.rows().get(point), row));
                Bits.assertSame("prompt", device.forward(text, 0), logits);
                for (int position = 33; position < 36; position++) {
                    int[] token = {position};
                    Bits.assertSame(
                            "position " + position, device.forward(token, position), host.forward(token, position));
                }
            }
        });
    }

    private static DeviceOptions options() {
        return DeviceOptions.of(TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT));
    }

    private static ForwardPass host(RandomModel model, Program program, Arena arena) {
        ArenaAllocator memory = new ArenaAllocator(arena, WeightLayout.PANELS);
        return new HostForwardPass(program, model.load(program, DType.STORED, memory), new ScalarOps());
    }

    /** As few kernels as there are kinds of layers: those that are kept alike share them. */
    @Test
    void layersThatAreKeptAlikeShareGraphs() {
        ModelConfig config = config(256, 256, 9, true);
        RandomModel model = new RandomModel(config, 1, List.of(BlockFormat.Q4_K, BlockFormat.Q6_K, BlockFormat.Q4_K));
        Program program = config.program(8);
        MatrixTypes types = MatrixTypes.of(program, DType.STORED, WeightSource.of(model, program, DType.STORED));
        ForwardMemory memory = ForwardMemory.ofOne(program, types, options());
        assertThat(IntStream.range(0, 9)
                        .mapToObj(layer -> LayerKind.of(memory.model(), layer))
                        .distinct())
                .hasSize(3);
    }
}
