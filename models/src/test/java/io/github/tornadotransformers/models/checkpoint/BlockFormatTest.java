package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.gguf.GgufTensorType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Blocks are read and written as the gguf package does; goldens by {@code models/src/test/python/make_quant_goldens.py}. */
class BlockFormatTest {
    private static final int GROUPS = 2;
    private static final JsonNode GOLDEN = golden();

    private static JsonNode golden() {
        try (InputStream file = BlockFormatTest.class.getResourceAsStream("/gguf/quants.json")) {
            return new ObjectMapper().readTree(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(JsonNode hex) {
        return HexFormat.of().parseHex(hex.textValue());
    }

    private static float[] floats(JsonNode hex) {
        ByteBuffer bytes = ByteBuffer.wrap(bytes(hex)).order(ByteOrder.LITTLE_ENDIAN);
        float[] floats = new float[bytes.capacity() / Float.BYTES];
        bytes.asFloatBuffer().get(floats);
        return floats;
    }

    private static MemorySegment blocks(BlockFormat format, Arena arena) {
        byte[] file = bytes(GOLDEN.get("read").get(format.name()).get("blocks"));
        MemorySegment blocks = arena.allocate(file.length);
        MemorySegment.copy(file, 0, blocks, ValueLayout.JAVA_BYTE, 0, file.length);
        return blocks;
    }

    private static float[] weights(BlockFormat format) {
        return floats(GOLDEN.get("read").get(format.name()).get("weights"));
    }

    @ParameterizedTest
    @EnumSource(BlockFormat.class)
    void aSizeIsTheFormats(BlockFormat format) {
        GgufTensorType type = GgufTensorType.valueOf(format.name());
        assertThat(format.fileBytes()).isEqualTo(type.blockBytes());
        assertThat(format.groupRows()).isEqualTo(type.blockSize());
    }

    @ParameterizedTest
    @EnumSource(BlockFormat.class)
    void blocksAreReadAsFloats(BlockFormat format) {
        try (Arena arena = Arena.ofConfined()) {
            BlockReader reader = new BlockReader(format, TensorBytes.of(blocks(format, arena)));
            float[] expected = weights(format);
            for (int first = 0; first < expected.length; first += 37) {
                int count = Math.min(expected.length - first, 300);
                MemorySegment read = arena.allocate((long) count * Float.BYTES, Float.BYTES);
                reader.read((long) first * Float.BYTES, read);
                for (int i = 0; i < count; i++) {
                    assertThat(Float.floatToRawIntBits(read.getAtIndex(ValueLayout.JAVA_FLOAT, i)))
                            .as("element %d", first + i)
                            .isEqualTo(Float.floatToRawIntBits(expected[first + i]));
                }
            }
        }
    }

    /** Two columns, of which one has the golden's groups and the other has them in the other order. */
    @ParameterizedTest
    @EnumSource(BlockFormat.class)
    void blocksInMemoryAreTheSameWeights(BlockFormat format) {
        int rows = GROUPS * format.groupRows();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment golden = blocks(format, arena);
            int group = format.fileBytes();
            MemorySegment file = arena.allocate(2L * golden.byteSize());
            MemorySegment.copy(golden, 0, file, 0, 2L * group);
            MemorySegment.copy(golden, group, file, 2L * group, group);
            MemorySegment.copy(golden, 0, file, 3L * group, group);
            BlockData data = new BlockData(format, rows, 2, arena.allocate(format.bytes(rows, 2), 64));
            BlockLoader.fill(data, TensorBytes.of(file));

            float[] expected = weights(format);
            for (int row = 0; row < rows; row++) {
                assertThat(data.value(row, 0)).as("row %d", row).isEqualTo(expected[row]);
                assertThat(data.value(row, 1)).isEqualTo(expected[(row + format.groupRows()) % rows]);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = GgufTensorType.class,
            names = {"Q8_0", "Q4_0", "F16", "BF16"})
    void floatsAreWritten(GgufTensorType type) {
        float[] floats = floats(GOLDEN.get("floats"));
        byte[] expected = bytes(GOLDEN.get("written").get(type.name()));
        ByteBuffer written = ByteBuffer.allocate(expected.length).order(ByteOrder.LITTLE_ENDIAN);

        assertThat(GgufQuantizer.write(type, floats, written)).isZero();
        assertThat(written.array()).isEqualTo(expected);
    }
}
