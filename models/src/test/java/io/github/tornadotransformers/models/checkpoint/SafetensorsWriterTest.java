package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SafetensorsWriterTest {
    /** Every value is exact in every type. */
    private static final FloatSource HALVES = (first, values, count) -> {
        for (int i = 0; i < count; i++) {
            values[i] = (first + i) % 200 / 2f - 50;
        }
    };

    @TempDir
    Path folder;

    private static SafetensorsWriter.Tensor tensor(String name, StoredType type, long... shape) {
        return new SafetensorsWriter.Tensor(
                name, type, Arrays.stream(shape).boxed().toList(), HALVES);
    }

    @ParameterizedTest
    @EnumSource(StoredType.class)
    void elementsAreReadBackAsTheyWere(StoredType type) throws IOException {
        int count = 2_500_003;
        Path file = folder.resolve("x.safetensors");
        SafetensorsWriter.write(file, Map.of(), List.of(tensor("x", type, count)));
        float[] expected = new float[count];
        HALVES.read(0, expected, count);
        float[] found = new float[count];
        try (Arena arena = Arena.ofConfined()) {
            StoredTensor stored = SafetensorsFile.open(file).tensors().get("x");
            TensorSource source = new TensorSource(type, TensorBytes.of(stored.read(arena)), count, arena);
            for (int first = 0; first < count; first += Tile.SIDE) {
                int length = Math.min(Tile.SIDE, count - first);
                source.load(0, 1, count, first, length);
                source.read(0, found, first, length);
            }
        }

        assertThat(found).isEqualTo(expected);
    }

    @Test
    void theOrderOfTheTensorsDoesNotMatter() throws IOException {
        var a = tensor("a", StoredType.F16, 3);
        var b = tensor("b", StoredType.F32, 2, 2);
        var c = tensor("c", StoredType.F32, 0);
        SafetensorsWriter.write(folder.resolve("1"), Map.of("x", "1", "y", "2"), List.of(a, b, c));
        SafetensorsWriter.write(folder.resolve("2"), Map.of("y", "2", "x", "1"), List.of(c, b, a));

        assertThat(folder.resolve("1")).hasSameBinaryContentAs(folder.resolve("2"));
    }

    @Test
    void everyTensorIsAligned() throws IOException {
        Path file = folder.resolve("x");
        SafetensorsWriter.write(
                file,
                Map.of(),
                List.of(
                        tensor("a", StoredType.BF16, 3),
                        tensor("b", StoredType.F32, 1),
                        tensor("c", StoredType.F64, 1)));

        assertThat(SafetensorsFile.open(file).tensors().values())
                .allSatisfy(tensor -> assertThat(
                                tensor.offset() % tensor.type().orElseThrow().bytes())
                        .isZero());
    }

    @Test
    void namesMayHoldAnyCharacter() throws IOException {
        Path file = folder.resolve("x");
        SafetensorsWriter.write(file, Map.of(), List.of(tensor("\"ä\\\n😀", StoredType.F32, 1)));

        assertThat(SafetensorsFile.open(file).tensors()).containsOnlyKeys("\"ä\\\n😀");
    }

    @Test
    void aFailureLeavesTheOlderFileAlone() throws IOException {
        Path file = folder.resolve("x");
        SafetensorsWriter.write(file, Map.of(), List.of(tensor("x", StoredType.F32, 1)));
        byte[] before = Files.readAllBytes(file);
        FloatSource failing = (first, values, count) -> {
            throw new IllegalStateException("no data");
        };
        var broken = new SafetensorsWriter.Tensor("x", StoredType.F32, List.of(9L), failing);

        assertThatThrownBy(() -> SafetensorsWriter.write(file, Map.of(), List.of(broken)))
                .isInstanceOf(IllegalStateException.class);
        assertThat(file).hasBinaryContent(before);
        assertThat(folder).isDirectoryNotContaining("glob:**.partial");
    }

    @Test
    void twoTensorsOfOneNameAreRefused() {
        var twin = tensor("x", StoredType.F32, 1);

        assertThatThrownBy(() -> SafetensorsWriter.write(folder.resolve("x"), Map.of(), List.of(twin, twin)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
