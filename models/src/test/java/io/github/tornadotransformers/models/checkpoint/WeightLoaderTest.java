package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class WeightLoaderTest {
    private static final long SEED = 8;

    @TempDir
    Path folder;

    static Stream<Arguments> everyModelAndType() {
        SplittableRandom random = new SplittableRandom(77);
        List<ModelConfig> configs = List.of(
                TestCheckpoints.gpt2(),
                TestCheckpoints.untiedGpt2(),
                TestCheckpoints.llama(),
                TestCheckpoints.biasedLlama(),
                TestCheckpoints.randomGpt2(random),
                TestCheckpoints.randomLlama(random));
        return configs.stream()
                .flatMap(config -> Stream.of(StoredType.values())
                        .flatMap(stored -> Stream.of(DType.F32, DType.BF16, DType.F16)
                                .map(dtype -> Arguments.of(config, stored, dtype))));
    }

    @ParameterizedTest
    @MethodSource("everyModelAndType")
    void whatWasWrittenIsLoaded(ModelConfig config, StoredType stored, DType dtype) {
        Checkpoint checkpoint = TestCheckpoints.write(folder, config, SEED, stored);

        Map<String, List<Float>> loaded = LoadedFloats.of(checkpoint, dtype);

        assertThat(loaded).isEqualTo(expected(config, stored, dtype));
    }

    private static Map<String, List<Float>> expected(ModelConfig config, StoredType stored, DType dtype) {
        Map<String, Weight> weightOf = new HashMap<>();
        for (Weight weight : config.program(1).weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                int index = layer;
                weight.parts().forEach(part -> weightOf.put(part.tensorName(index), weight));
            }
        }
        Map<String, List<Float>> expected = new TreeMap<>();
        for (SafetensorsWriter.Tensor tensor : RandomCheckpoint.tensors(config, SEED, stored)) {
            boolean isMatrix = weightOf.get(tensor.name()).kind() == Weight.Kind.MATRIX;
            float[] values = new float[(int) tensor.elements()];
            tensor.data().read(0, values, values.length);
            List<Float> elements = new ArrayList<>();
            for (float value : values) {
                float kept = NaiveConversion.stored(value, stored);
                elements.add(NaiveConversion.kept(kept, isMatrix ? dtype : DType.F32));
            }
            expected.put(tensor.name(), elements);
        }
        return expected;
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = "STORED")
    void everyWeightHasItsNameAndSizeAndOnlyMatricesTheType(DType dtype) {
        Checkpoint checkpoint = TestCheckpoints.write(folder, TestCheckpoints.biasedLlama(), SEED);
        Program program = checkpoint.config().program(3);
        Map<String, Long> asked = new HashMap<>();
        try (Arena arena = Arena.ofShared()) {
            ArenaAllocator memory = new ArenaAllocator(arena);
            WeightAllocator allocator = (name, bytes) -> {
                assertThat(asked.put(name, bytes)).isNull();
                return memory.allocate(name, bytes);
            };

            Weights weights = WeightLoader.load(checkpoint, program, dtype, allocator);

            for (Weight weight : program.weights()) {
                WeightData data = weights.get(weight);
                boolean isMatrix = weight.kind() == Weight.Kind.MATRIX;
                assertThat(data.dtype()).isEqualTo(isMatrix ? dtype : DType.F32);
                assertThat(asked)
                        .containsEntry(
                                weight.name(), weight.size() * data.dtype().bytes());
                assertThat(data.elements().getFirst().address() % 64).isZero();
                assertThat(asked.containsKey(weight.name() + ".scales")).isEqualTo(data.dtype() == DType.INT8);
            }
            assertThat(weights.bytes())
                    .isEqualTo(
                            asked.values().stream().mapToLong(Long::longValue).sum());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "F32, 65520, F16",
        "F32, -70000, F16",
        "BF16, 1e38, F16",
        "F32, 3.4e38, BF16",
        "F64, 1e300, F32",
        "F64, -1e39, INT8"
    })
    void aFiniteValueThatWouldBecomeInfiniteIsRefused(StoredType stored, double value, DType dtype) throws IOException {
        TestCheckpoints.write(folder, TestCheckpoints.gpt2(), SEED, stored);
        overwriteFirst("transformer.h.1.mlp.c_fc.weight", value);

        assertThat(Rejection.line(() -> LoadedFloats.of(Checkpoint.open(folder), dtype)))
                .startsWith(folder.resolve("model.safetensors") + ": ")
                .contains("1 values of tensor \"transformer.h.1.mlp.c_fc.weight\" (" + stored + ") are too large for "
                        + dtype);
    }

    @ParameterizedTest
    @CsvSource({"F32, 65519, F16, 65504", "F32, 3.39e38, BF16, 3.3895314E38", "F64, 3.4e38, F32, 3.4e38"})
    void theLargestFiniteValuesAreLoaded(StoredType stored, double value, DType dtype, float expected)
            throws IOException {
        TestCheckpoints.write(folder, TestCheckpoints.gpt2(), SEED, stored);
        overwriteFirst("transformer.wte.weight", value);

        assertThat(LoadedFloats.of(Checkpoint.open(folder), dtype)
                        .get("wte.weight")
                        .getFirst())
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "F32, F32",
        "F32, BF16",
        "F32, F16",
        "F32, INT8",
        "BF16, BF16",
        "BF16, F16",
        "F16, F16",
        "F16, BF16",
        "F64, F32"
    })
    void aWeightThatIsNotFiniteIsLoadedAsOne(StoredType stored, DType dtype) throws IOException {
        TestCheckpoints.write(folder, TestCheckpoints.gpt2(), SEED, stored);
        overwriteFirst("transformer.wte.weight", Double.NaN);
        overwriteFirst("transformer.h.0.mlp.c_fc.weight", Double.POSITIVE_INFINITY);

        Map<String, List<Float>> loaded = LoadedFloats.of(Checkpoint.open(folder), dtype);

        assertThat(loaded.get("wte.weight").getFirst()).isNaN();
        assertThat(Float.isFinite(loaded.get("h.0.mlp.c_fc.weight").getFirst())).isFalse();
    }

    private void overwriteFirst(String name, double value) throws IOException {
        Path file = folder.resolve("model.safetensors");
        StoredTensor tensor = SafetensorsFile.open(file).tensors().get(name);
        ByteBuffer element = ByteBuffer.allocate(Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        switch (tensor.type().orElseThrow()) {
            case F64 -> element.putDouble(value);
            case F32 -> element.putFloat((float) value);
            case F16 -> element.putShort(Float.floatToFloat16((float) value));
            case BF16 -> element.putShort((short) (Float.floatToIntBits((float) value) >>> 16));
        }
        try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
            channel.position(tensor.offset()).write(element.flip());
        }
    }

    @Test
    void withoutMemoryTheWeightAndItsSizeAreNamed() {
        WeightAllocator allocator = new ArenaAllocator(new Arena() {
            @Override
            public MemorySegment allocate(long bytes, long alignment) {
                throw new OutOfMemoryError("none");
            }

            @Override
            public MemorySegment.Scope scope() {
                return Arena.global().scope();
            }

            @Override
            public void close() {}
        });

        assertThat(Rejection.line(() -> allocator.allocate("tokenEmbedding", 1L << 40)))
                .contains("no memory for weight tokenEmbedding (1099511627776 bytes)");
    }

    @Test
    void tensorsThatDoNotFitTheProgramAreRefusedBeforeAnyAllocation() {
        Checkpoint checkpoint = TestCheckpoints.write(folder, TestCheckpoints.gpt2(), SEED);
        Program other = TestCheckpoints.untiedGpt2().program(1);
        List<String> asked = new ArrayList<>();

        assertThat(Rejection.message(() -> WeightLoader.load(checkpoint, other, DType.F32, (name, bytes) -> {
                    asked.add(name);
                    throw new CheckpointException("asked for memory");
                })))
                .contains("tensors do not fit config.json");
        assertThat(asked).isEmpty();
    }

    @Test
    void aFileThatIsCutShortAfterItWasOpenedIsNamed() throws IOException {
        Checkpoint checkpoint = TestCheckpoints.write(folder, TestCheckpoints.llama(), SEED);
        Path file = folder.resolve("model.safetensors");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() / 2);
        }

        assertThat(Rejection.line(() -> LoadedFloats.of(checkpoint, DType.BF16)))
                .startsWith(
                        file + " became shorter while it was read: it has " + Files.size(file) + " bytes, expected");
    }
}
