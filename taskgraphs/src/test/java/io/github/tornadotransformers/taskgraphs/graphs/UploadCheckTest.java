package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.emulator.DeviceLimits;
import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.Emulator;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import io.github.tornadotransformers.taskgraphs.memory.WeightKey;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** A weight that did not arrive as it was sent ends the first run, whichever it is and whatever became of it. */
@OnEmulator
class UploadCheckTest {
    private static final ModelConfig GPT2 = new Gpt2Config(new Sizes(52, 80, 12, 20, 2), 2, 1e-5f, true, true);
    private static final Program PROGRAM = GPT2.program(40);

    /** Quants, scales and minima that are kept as a file has them. */
    private static final RandomModel BLOCKS = new RandomModel(
            new Gpt2Config(new Sizes(52, 80, 64, 96, 2), 2, 1e-5f, true, true),
            8,
            List.of(BlockFormat.Q5_1, BlockFormat.Q8_0));

    /** Loops run on it, which are emulated faster than groups. */
    private static final DeviceLimits GPU = new DeviceLimits(TornadoDeviceType.GPU, 1L << 30, 1L << 30, 64, true);

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F32", "BF16", "F16", "INT8"})
    void whatArrivedPassesAndIsSentOnce(DType dtype) {
        int matrices = (int) PROGRAM.weights().stream()
                .filter(weight -> weight.kind() == Weight.Kind.MATRIX)
                .count();

        // int8 has scales beside every matrix.
        assertThat(uploads(dtype)).hasSize(PROGRAM.weights().size() + (dtype == DType.INT8 ? matrices : 0));
    }

    @ParameterizedTest
    @CsvSource({"F32", "BF16", "F16", "INT8", "STORED"})
    void aBitInAnyWeightIsNoticed(DType dtype) {
        int tables = uploads(dtype).size();
        for (int table = 0; table < tables; table++) {
            int broken = table;
            RandomData data = new RandomData(table);
            requireNoticed(dtype, broken, memory -> {
                long at = data.between(0, (int) memory.byteSize() - 1);
                // The last bit of a significand, in whatever byte; not of one that is 0, which is subnormal then.
                memory.set(ValueLayout.JAVA_BYTE, at, (byte) (memory.get(ValueLayout.JAVA_BYTE, at) ^ 1));
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"F32", "INT8"})
    void zerosAndNeighboursThatChangedPlacesAreNoticed(DType dtype) {
        int tables = uploads(dtype).size();
        for (int table = 0; table < tables; table++) {
            requireNoticed(
                    dtype,
                    table,
                    memory -> memory.asSlice(memory.byteSize() / 2).fill((byte) 0x11));
            requireNoticed(dtype, table, memory -> {
                int last = memory.get(ValueLayout.JAVA_INT_UNALIGNED, memory.byteSize() - Integer.BYTES);
                int before = memory.get(ValueLayout.JAVA_INT_UNALIGNED, memory.byteSize() - 2 * Integer.BYTES);
                memory.set(
                        ValueLayout.JAVA_INT_UNALIGNED,
                        memory.byteSize() - Integer.BYTES,
                        before + (before == last ? 4 : 0));
                memory.set(ValueLayout.JAVA_INT_UNALIGNED, memory.byteSize() - 2 * Integer.BYTES, last);
            });
        }
    }

    private static void requireNoticed(DType dtype, int table, Consumer<MemorySegment> fault) {
        assertThatThrownBy(() -> run(dtype, table, fault))
                .as("table " + table)
                .isInstanceOf(DeviceException.class)
                .hasMessageMatching(
                        "(?s).+ is on emulator \\(no device\\) .* otherwise than it was sent, by \\d+ of 16384"
                                + " checksums: .*; try again, then another driver or device");
    }

    /** The sizes of what goes to the device once, in the order in which it does. */
    private static List<Integer> uploads(DType dtype) {
        return run(dtype, -1, _ -> {});
    }

    private static List<Integer> run(DType dtype, int broken, Consumer<MemorySegment> fault) {
        EmulatedDevice emulated = new EmulatedDevice(GPU);
        Set<Long> tables = new HashSet<>();
        List<TornadoNativeArray> sent = new ArrayList<>();
        emulated.breakCopies((host, memory) -> {
            if (tables.contains((long) host.getSize())) {
                if (sent.size() == broken) {
                    fault.accept(memory.getSegment());
                }
                sent.add(host);
            }
        });
        Program program = dtype == DType.STORED ? BLOCKS.config().program(40) : PROGRAM;
        WeightSource source = source(program, dtype);
        return Emulator.call(emulated, () -> {
            DeviceOptions options =
                    DeviceOptions.of(TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT));
            tables.addAll(sizesOfTables(program, MatrixTypes.of(program, dtype, source), options.device()));
            try (TornadoForwardPass engine =
                    TornadoForwardPass.open(program, dtype, source, options.withPrefillRows(4))) {
                engine.forward(new int[] {3, 1, 4, 1, 5, 9, 2, 6}, 0); // one, then four at once
                return sent.stream().map(TornadoNativeArray::getSize).toList();
            }
        });
    }

    private static WeightSource source(Program program, DType dtype) {
        if (dtype == DType.STORED) {
            return WeightSource.of(BLOCKS, program, dtype);
        }
        Weights weights = RandomModels.weights(program, dtype, new RandomData(3));
        return _ -> weights;
    }

    /** Their elements; nothing else that goes to the device has as many as one of them. */
    private static Set<Long> sizesOfTables(Program program, MatrixTypes types, DeviceInfo device) {
        DeviceModel model = DeviceModel.of(program, types, KvType.F32, MathMode.STRICT, device, 1);
        return new GraphSet(model, GraphMode.LAYERED, ChainRows.ofOne(program, 4), false)
                .arrays()
                .filter(array -> array.key() instanceof WeightKey<?>)
                .map(PlannedArray::elements)
                .collect(Collectors.toSet());
    }
}
