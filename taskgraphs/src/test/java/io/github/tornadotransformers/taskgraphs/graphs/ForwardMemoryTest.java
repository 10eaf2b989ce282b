package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.tornadotransformers.emulator.DeviceLimits;
import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.Emulator;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.LayerGroups;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A model that does not fit is refused before anything is allocated, with both figures and what would fit. */
class ForwardMemoryTest {
    private static final LlamaConfig SEVEN_BILLION = new LlamaConfig(
            new Sizes(32000, 4096, 4096, 11008, 32),
            new Heads(32, 32, 128),
            new Rope(10000, 128, new RopeScaling.None()),
            1e-5f,
            false,
            false,
            false);
    private static final LlamaConfig ONE_BILLION = new LlamaConfig(
            new Sizes(32000, 2048, 2048, 5632, 22),
            new Heads(32, 4, 64),
            new Rope(10000, 64, new RopeScaling.None()),
            1e-5f,
            false,
            false,
            false);
    private static final LlamaConfig WIDE = new LlamaConfig(
            new Sizes(100, 64, 1024, 11008, 2),
            new Heads(16, 16, 64),
            new Rope(10000, 64, new RopeScaling.None()),
            1e-5f,
            false,
            false,
            false);
    private static final long GB = 1_000_000_000L;

    private static DeviceInfo device(long memoryBytes, long maxAllocationBytes) {
        return new DeviceInfo(
                new DeviceId(0, 0),
                Backend.OPENCL,
                DeviceInfo.Kind.GPU,
                "some GPU",
                "some platform",
                memoryBytes,
                maxAllocationBytes,
                256,
                true,
                true);
    }

    private static ForwardMemory plan(LlamaConfig config, int context, DType dtype, DeviceInfo device) {
        return memory(config.program(context), dtype, DeviceOptions.of(device).withPrefillRows(1));
    }

    private static ForwardMemory memory(Program program, DType dtype, DeviceOptions options) {
        return ForwardMemory.ofOne(program, MatrixTypes.of(dtype), options);
    }

    private static LayerGroups groups(LlamaConfig config, int context, DType dtype, DeviceInfo device) {
        return DeviceModel.of(
                        config.program(context),
                        MatrixTypes.of(dtype),
                        KvType.F32,
                        MathMode.STRICT,
                        device,
                        AttentionShape.pages(context))
                .groups();
    }

    @Test
    void countsWeightsCacheAndActivations() {
        Program program = ONE_BILLION.program(2048);
        long weights = program.weights().stream()
                .mapToLong(weight -> weight.size() * Float.BYTES)
                .sum();
        long rest = plan(ONE_BILLION, 2048, DType.F32, device(8 * GB, 4 * GB))
                        .plan()
                        .bytes()
                - weights
                - program.cacheBytes();
        assertThat(rest).isBetween(0L, 20_000_000L);
    }

    @Test
    void acceptsWhatFits() {
        plan(ONE_BILLION, 2048, DType.F32, device(8 * GB, 4 * GB)).requireFits();
    }

    @Test
    void saysWhatTypeWouldFit() {
        assertThatThrownBy(() -> plan(ONE_BILLION, 2048, DType.F32, device(4 * GB, 3 * GB))
                        .requireFits())
                .isInstanceOf(DeviceException.class)
                .hasMessage("the model needs 4.49 GB in f32, but some GPU (opencl 0:0) has 4.00 GB: try dtype bf16");
    }

    @Test
    void saysWhatContextWouldFit() {
        DeviceInfo device = device(1_300_000_000L, GB);
        String message = catchThrowableOfType(
                        DeviceException.class,
                        () -> plan(ONE_BILLION, 2048, DType.INT8, device).requireFits())
                .getMessage();
        assertThat(message).matches("the model needs 1\\.3. GB in int8, but .* has 1\\.30 GB: try context \\d+");
        int context = Integer.parseInt(message.substring(message.lastIndexOf(' ') + 1));
        plan(ONE_BILLION, context, DType.INT8, device).requireFits();
        assertThatThrownBy(() ->
                        plan(ONE_BILLION, context + 20, DType.INT8, device).requireFits())
                .isInstanceOf(DeviceException.class);
    }

    /** An array of all layers would be too large for a buffer, or for an int to index: each group of layers has its own. */
    @Test
    void splitsLayersIntoGroups() {
        assertThat(groups(ONE_BILLION, 2048, DType.F32, device(16 * GB, 3 * GB)))
                .isEqualTo(new LayerGroups(22, 22));
        DeviceInfo small = device(16 * GB, GB);
        assertThat(groups(ONE_BILLION, 2048, DType.F32, small)).isEqualTo(new LayerGroups(22, 8));
        plan(ONE_BILLION, 2048, DType.F32, small).requireFits();
        DeviceInfo large = device(1000 * GB, 1000 * GB);
        assertThat(groups(SEVEN_BILLION, 4096, DType.BF16, large)).isEqualTo(new LayerGroups(32, 16));
        plan(SEVEN_BILLION, 4096, DType.BF16, large).requireFits();
    }

    @Test
    void saysThatOneBufferIsTooLarge() {
        assertThatThrownBy(() -> plan(ONE_BILLION, 2048, DType.F32, device(16 * GB, GB / 5))
                        .requireFits())
                .isInstanceOf(DeviceException.class)
                .hasMessage(
                        "tokenEmbedding needs a buffer of 0.26 GB, but some GPU (opencl 0:0) allows less than 0.20 GB"
                                + " for one: try dtype bf16");
    }

    @Test
    void saysWhichLayersABufferHolds() {
        assertThatThrownBy(() ->
                        plan(WIDE, 64, DType.BF16, device(16 * GB, GB / 25)).requireFits())
                .isInstanceOf(DeviceException.class)
                .hasMessage("gateUpProjWeight of layer 0 needs a buffer of 0.0451 GB, but some GPU (opencl 0:0) allows"
                        + " less than 0.0400 GB for one: try dtype int8");
    }

    @Test
    void saysThatAnIntCannotCountTheElements() {
        LlamaConfig babel = new LlamaConfig(
                new Sizes(1_100_000, 64, 4096, 64, 1),
                new Heads(32, 32, 128),
                new Rope(10000, 128, new RopeScaling.None()),
                1e-5f,
                false,
                false,
                true);
        assertThatThrownBy(() -> plan(babel, 64, DType.BF16, device(1000 * GB, 1000 * GB))
                        .requireFits())
                .isInstanceOf(DeviceException.class)
                .hasMessage(
                        "tokenEmbedding has 4505600000 elements, but TornadoVM's arrays hold 2147483647 at most: try"
                                + " engine host");
    }

    /** What is allocated on the device is what was planned, but for activations that fused tasks do without. */
    @ParameterizedTest
    @CsvSource({"LAYERED, 1", "LAYERED, 8"})
    void isWhatTheDeviceHolds(GraphMode graph, int rows) {
        LlamaConfig config = new LlamaConfig(
                new Sizes(50, 40, 24, 30, 2),
                new Heads(2, 1, 12),
                new Rope(10000, 12, new RopeScaling.None()),
                1e-6f,
                false,
                false,
                false);
        Program program = config.program(40);
        Weights weights = RandomModels.weights(program, DType.INT8, new RandomData(1));
        EmulatedDevice device = new EmulatedDevice(DeviceLimits.DEFAULT);
        Emulator.run(device, () -> {
            DeviceOptions options = DeviceOptions.of(
                            TornadoDevices.list(MathMode.STRICT).getFirst())
                    .withGraph(graph)
                    .withPrefillRows(rows);
            try (TornadoForwardPass forward = TornadoForwardPass.open(program, DType.INT8, _ -> weights, options)) {
                forward.forward(new int[40], 0);
                long planned = memory(program, DType.INT8, options).plan().bytes();
                assertThat(device.usedBytes()).isBetween(planned * 9 / 10, planned + 5_000);
            }
            assertThat(device.usedBytes()).isZero();
        });
    }
}
