package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

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
