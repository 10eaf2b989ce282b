package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RandomCheckpointTest {
    @TempDir
    Path folder;

    static Stream<ModelConfig> configs() {
        SplittableRandom random = new SplittableRandom(11);
        Stream<ModelConfig> any = Stream.generate(() ->
                        List.<ModelConfig>of(TestCheckpoints.randomGpt2(random), TestCheckpoints.randomLlama(random)))
                .limit(20)
                .flatMap(List::stream);
        Stream<ModelConfig> known = Stream.of(
                TestCheckpoints.gpt2(),
                TestCheckpoints.untiedGpt2(),
                TestCheckpoints.llama(),
                TestCheckpoints.biasedLlama());
        return Stream.concat(known, any);
    }

    @ParameterizedTest
    @MethodSource("configs")
    void theConfigIsReadBackAsItWas(ModelConfig config) {
        assertThat(TestCheckpoints.write(folder, config, 1).config()).isEqualTo(config);
    }

    @Test
    void theSameSeedGivesTheSameBytes() throws IOException {
        TestCheckpoints.write(folder.resolve("a"), TestCheckpoints.gpt2(), 5);
        TestCheckpoints.write(folder.resolve("b"), TestCheckpoints.gpt2(), 5);

        assertThat(folder.resolve("a/model.safetensors")).hasSameBinaryContentAs(folder.resolve("b/model.safetensors"));
    }

    @Test
    void anotherSeedGivesOtherBytes() throws IOException {
        TestCheckpoints.write(folder.resolve("a"), TestCheckpoints.gpt2(), 5);
        TestCheckpoints.write(folder.resolve("b"), TestCheckpoints.gpt2(), 6);

        assertThat(Files.mismatch(folder.resolve("a/model.safetensors"), folder.resolve("b/model.safetensors")))
                .isNotEqualTo(-1);
    }

    @Test
    void shardsHoldTheSameTensorsAsOneFile() throws IOException {
        ModelConfig config = TestCheckpoints.llama();
        Checkpoint whole = TestCheckpoints.write(folder.resolve("whole"), config, 9);
        RandomCheckpoint.writeSharded(folder.resolve("sharded"), config, 9, StoredType.F32, 3);

        Checkpoint sharded = Checkpoint.open(folder.resolve("sharded"));

        assertThat(folder.resolve("sharded/model-00003-of-00003.safetensors")).exists();
        assertThat(LoadedFloats.of(sharded, DType.F32)).isEqualTo(LoadedFloats.of(whole, DType.F32));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 10_000, 30_000, Long.MAX_VALUE})
    void filesAreAsSmallAsWanted(long mostBytes) throws IOException {
        ModelConfig config = TestCheckpoints.llama();
        Checkpoint whole = TestCheckpoints.write(folder.resolve("whole"), config, 9);
        AtomicLong written = new AtomicLong();
        Path inFiles = folder.resolve("in files");
        RandomCheckpoint.writeInFiles(inFiles, config, 9, StoredType.F32, mostBytes, written::addAndGet);

        Checkpoint checkpoint = Checkpoint.open(inFiles);
        assertThat(LoadedFloats.of(checkpoint, DType.F32)).isEqualTo(LoadedFloats.of(whole, DType.F32));
        assertThat(written).hasValue(RandomCheckpoint.bytes(config, StoredType.F32));
        long largest = RandomCheckpoint.tensors(config, 9, StoredType.F32).stream()
                .mapToLong(SafetensorsWriter.Tensor::bytes)
                .max()
                .orElseThrow();
        try (Stream<Path> files = Files.list(inFiles)) {
            assertThat(files.filter(file -> file.toString().endsWith(".safetensors")))
                    .hasSize(mostBytes == Long.MAX_VALUE ? 1 : (int) distinctFiles(inFiles))
                    .allSatisfy(file -> assertThat(SafetensorsFile.open(file).tensors().values().stream()
                                    .mapToLong(StoredTensor::bytes)
                                    .sum())
                            .isLessThanOrEqualTo(Math.max(mostBytes, largest)));
        }
    }

    private static long distinctFiles(Path folder) {
        return CheckpointFiles.readJson(folder.resolve(ShardIndex.FILE_NAME))
                .path(ShardIndex.WEIGHT_MAP)
                .valueStream()
                .distinct()
                .count();
    }

    @ParameterizedTest
    @CsvSource({
        "gpt2, gpt2-124M",
        "openai-community/gpt2, gpt2-124M",
        "TinyLlama/TinyLlama-1.1B-Chat-v1.0, tinyllama-1.1B",
        "TinyLlama-1.1B, tinyllama-1.1B",
        "Qwen3-0.6B, qwen3-0.6B",
        "Qwen/Qwen3-0.6B-Base, qwen3-0.6B",
        "Gemma-3-1B, gemma3-1B",
        "google/gemma-3-1b-it, gemma3-1B",
        "Llama-2-7B, llama2-7B",
        "meta-llama/Llama-2-70b-hf, llama2-70B"
    })
    void aPresetIsFoundAsPeopleWriteIt(String name, String preset) {
        assertThat(ModelPresets.like(name))
                .isEqualTo(ModelPresets.named(preset))
                .isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "llama2", "gpt2-xl", "Llama-2-13b", "g"})
    void whatMayBeSeveralPresetsIsNone(String name) {
        assertThat(ModelPresets.like(name)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "gpt2-124M, 124439808",
        "tinyllama-1.1B, 1100048384",
        "stories15M, 15191712",
        "llama2-7B, 6738415616",
        "llama2-70B, 68976648192"
    })
    void aPresetHasAsManyParametersAsThePublishedModel(String name, long parameters) {
        assertThat(ModelPresets.named(name).orElseThrow().parameters()).isEqualTo(parameters);
    }

    @Test
    void thereIsNoPresetOfAnUnknownName() {
        assertThat(ModelPresets.named("gpt5")).isEmpty();
    }
}
