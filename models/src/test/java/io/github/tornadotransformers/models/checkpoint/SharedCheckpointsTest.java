package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checkpoints that other programs have written. */
class SharedCheckpointsTest {
    private static final ValueLayout.OfFloat FLOATS =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @ParameterizedTest
    @ValueSource(strings = {"stories260K", "tiny-random-gpt2", "gpt-nano-sort", "odd-llama"})
    void everyElementArrivesAtItsPlace(String model) {
        Checkpoint checkpoint = Checkpoint.open(SharedData.require("models/" + model));
        var program = checkpoint.config().program(1);
        try (Arena arena = Arena.ofShared()) {
            Weights weights = WeightLoader.load(checkpoint, program, DType.F32, new ArenaAllocator(arena));

            for (Weight weight : program.weights()) {
                for (int layer = 0; layer < weight.layers(); layer++) {
                    for (TensorPart part : weight.parts()) {
                        requireEqual(
                                weight,
                                part,
                                checkpoint.tensor(part.tensorName(layer)),
                                weights.get(weight).layer(layer));
                    }
                }
            }
        }
    }

    private static void requireEqual(Weight weight, TensorPart part, StoredTensor tensor, MemorySegment layer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stored = tensor.read(arena);
            for (int row = 0; row < weight.rows(); row++) {
                for (int column = 0; column < part.columns(); column++) {
                    long index = part.transposed()
                            ? (long) column * weight.rows() + row
                            : (long) row * part.columns() + column;
                    long place = (long) row * weight.columns() + part.firstColumn() + column;
                    assertThat(layer.get(FLOATS, place * Float.BYTES))
                            .as("%s, element %d", tensor.name(), index)
                            .isEqualTo(storedFloat(tensor, stored, index));
                }
            }
        }
    }

    private static float storedFloat(StoredTensor tensor, MemorySegment stored, long index) {
        return switch (tensor.dtype()) {
            case "F32" -> stored.get(FLOATS, index * Float.BYTES);
            case "BF16" -> {
                int low = Byte.toUnsignedInt(stored.get(ValueLayout.JAVA_BYTE, 2 * index));
                int high = Byte.toUnsignedInt(stored.get(ValueLayout.JAVA_BYTE, 2 * index + 1));
                yield Float.intBitsToFloat(high << 24 | low << 16);
            }
            default -> throw new IllegalArgumentException(tensor.dtype());
        };
    }
}
