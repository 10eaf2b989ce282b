package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NonFiniteTensorTest {
    @TempDir
    Path folder;

    private StoredTensor written(StoredType type, List<Long> shape, Map<Long, Float> odd) throws IOException {
        Path file = folder.resolve("x.safetensors");
        FloatSource data = (first, values, count) -> {
            for (int i = 0; i < count; i++) {
                values[i] = odd.getOrDefault(first + i, 1f);
            }
        };
        SafetensorsWriter.write(file, Map.of(), List.of(new SafetensorsWriter.Tensor("the.weight", type, shape, data)));
        return SafetensorsFile.open(file).tensors().get("the.weight");
    }

    @ParameterizedTest
    @EnumSource(StoredType.class)
    void theFirstElementAndTheNumberOfAllAreFound(StoredType type) throws IOException {
        StoredTensor tensor = written(
                type,
                List.of(3L, 5000L),
                Map.of(9_999L, Float.NEGATIVE_INFINITY, 10_000L, Float.NaN, 14_999L, Float.POSITIVE_INFINITY));
        assertThat(NonFiniteTensor.in(tensor).orElseThrow())
                .hasToString("tensor \"the.weight\" (" + type + " [3, 5000]) in " + tensor.file()
                        + ": element [1, 4999] is -Infinity, and 2 more are not finite");
    }

    @Test
    void anElementAloneIsNamedAlone() throws IOException {
        StoredTensor tensor = written(StoredType.F32, List.of(7L), Map.of(6L, Float.NaN));
        assertThat(NonFiniteTensor.in(tensor).orElseThrow().toString()).endsWith(": element [6] is NaN");
        StoredTensor two = written(StoredType.F32, List.of(7L), Map.of(0L, Float.NaN, 6L, Float.NaN));
        assertThat(NonFiniteTensor.in(two).orElseThrow().toString())
                .endsWith(": element [0] is NaN, and 1 more is not finite");
    }

    @Test
    void theLargestFiniteValuesAreNotFound() throws IOException {
        assertThat(NonFiniteTensor.in(
                        written(StoredType.F32, List.of(2L), Map.of(0L, Float.MAX_VALUE, 1L, -Float.MAX_VALUE))))
                .isEmpty();
        assertThat(NonFiniteTensor.in(written(StoredType.F32, List.of(0L, 4L), Map.of())))
                .isEmpty();
    }
}
