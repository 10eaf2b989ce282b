package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RandomModelTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = "STORED")
    void theWeightsAreThoseOfTheWrittenCheckpoint(DType dtype) {
        for (ModelConfig config : List.of(TestCheckpoints.untiedGpt2(), TestCheckpoints.biasedLlama())) {
            Checkpoint written = TestCheckpoints.write(folder.resolve(config.modelType()), config, 7);

            assertThat(LoadedFloats.of(new RandomModel(config, 7), dtype)).isEqualTo(LoadedFloats.of(written, dtype));
        }
    }

    @Test
    void anotherSeedGivesOtherWeights() {
        ModelConfig config = TestCheckpoints.gpt2();

        assertThat(LoadedFloats.of(new RandomModel(config, 1), DType.F32))
                .isNotEqualTo(LoadedFloats.of(new RandomModel(config, 2), DType.F32));
    }

    @Test
    void formatsAreThoseOfMatricesWithMostWeightsFirst() {
        ModelConfig config = TestCheckpoints.biasedLlama().miniature();
        List<BlockFormat> formats = List.of(BlockFormat.Q6_K, BlockFormat.Q4_K);

        assertThat(new RandomModel(config, 1, formats).formats()).containsExactly(BlockFormat.Q6_K, BlockFormat.Q4_K);
        assertThat(new RandomModel(TestCheckpoints.gpt2(), 1).formats()).isEmpty();
    }
}
