package io.github.tornadotransformers.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class OpCostTest {
    private static final Program GPT2 = preset("gpt2-124M").program(1024);
    private static final Program TINY_LLAMA = preset("tinyllama-1.1B").program(1024);

    @ParameterizedTest
    @CsvSource({
        // 768 * 2304 elements, with 24 blocks of scales for int8, and the bias
        "F32, 7087104",
        "BF16, 3548160",
        "F16, 3548160",
        "INT8, 1999872"
    })
    void aMatrixIsReadOnceWithItsScalesAndBias(DType dtype, long bytes) {
        assertThat(OpCost.of(op(GPT2, "qkvProj"), MatrixBytes.of(dtype), 1, 0).weightBytes())
                .isEqualTo(bytes);
        assertThat(OpCost.of(op(GPT2, "qkvProj"), MatrixBytes.of(dtype), 9, 0).weightBytes())
                .isEqualTo(bytes);
    }

    @Test
    void aLinearLayerMultipliesAndAddsForEachElementAndRow() {
        assertThat(OpCost.of(op(TINY_LLAMA, "qkvProj"), MatrixBytes.of(DType.F32), 3, 0)
                        .operations())
                .isEqualTo(3L * 2 * 2048 * 2560);
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "1, 999", "128, 0", "7, 13"})
    void attentionLooksBackOnEveryPositionUpToItsOwn(int rows, int firstPosition) {
        long pairs = 0;
        for (int row = 0; row < rows; row++) {
            for (int position = 0; position <= firstPosition + row; position++) {
                pairs += 32;
            }
        }
        OpCost output = OpCost.of(op(TINY_LLAMA, "attentionOutput"), MatrixBytes.of(DType.F32), rows, firstPosition);

        assertThat(output.operations()).isEqualTo(pairs * 2 * 64);
        assertThat(output.cacheBytes()).isEqualTo((firstPosition + rows) * 4L * 64 * Float.BYTES);
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void theModelsBytesAreThoseOfItsLoadedWeights(DType dtype) {
        for (ModelConfig config : List.of(TestCheckpoints.gpt2(), TestCheckpoints.llama())) {
            Program program = config.program(8);
            try (Arena arena = Arena.ofShared()) {
                RandomModel model = new RandomModel(config, 1);
                long loaded =
                        model.load(program, dtype, new ArenaAllocator(arena)).bytes();

                assertThat(ProgramCost.modelBytes(program, MatrixBytes.of(model, program, dtype)))
                        .isEqualTo(loaded);
                assertThat(model.weightBytes(program, dtype)).isEqualTo(loaded);
            }
        }
    }

    @Test
    void aTokenReadsEveryWeightButWhatItDoesNotLookUp() {
        long embedding = 32_000L * 2048;
        long others = preset("tinyllama-1.1B").parameters() - embedding + 2048;

        assertThat(ProgramCost.decode(TINY_LLAMA, MatrixBytes.of(DType.F32), 1, 0, 1)
                        .weightBytes())
                .isEqualTo(others * Float.BYTES);
    }

    @Test
    void aPromptReadsTheWeightsOncePerChunkAndTheHeadOnce() {
        long head =
                OpCost.of(op(GPT2, "lmHead"), MatrixBytes.of(DType.F32), 1, 0).weightBytes();
        long one = ProgramCost.prefill(GPT2, MatrixBytes.of(DType.F32), ProgramCost.CHUNK_ROWS, 0)
                .weightBytes();
        long three = ProgramCost.prefill(GPT2, MatrixBytes.of(DType.F32), 3 * ProgramCost.CHUNK_ROWS, 0)
                .weightBytes();

        assertThat((double) three).isCloseTo(3.0 * one - 2.0 * head, within(0.01 * three));
    }

    @Test
    void aTokenTakesAboutTwoOperationsPerParameter() {
        long operations = ProgramCost.decode(TINY_LLAMA, MatrixBytes.of(DType.F32), 1, 0, 1)
                .operations();

        assertThat((double) operations)
                .isCloseTo(2.0 * (preset("tinyllama-1.1B").parameters() - 32_000L * 2048), within(0.005 * operations));
    }

    @Test
    void tokensOneByOneComputeWhatAPromptDoesAndTheHeadForEach() {
        long head =
                OpCost.of(op(GPT2, "lmHead"), MatrixBytes.of(DType.F32), 1, 0).operations()
                        + OpCost.of(op(GPT2, "finalNorm"), MatrixBytes.of(DType.F32), 1, 0)
                                .operations();

        assertThat(ProgramCost.decode(GPT2, MatrixBytes.of(DType.F32), 300, 5, 1)
                        .operations())
                .isEqualTo(ProgramCost.prefill(GPT2, MatrixBytes.of(DType.F32), 300, 5)
                                .operations()
                        + 299 * head);
    }

    @Test
    void sequencesThatDecodeTogetherShareTheWeightsAlone() {
        ProgramCost one = ProgramCost.decode(GPT2, MatrixBytes.of(DType.F32), 3, 5, 1);
        ProgramCost eight = ProgramCost.decode(GPT2, MatrixBytes.of(DType.F32), 3, 5, 8);

        assertThat(eight).isEqualTo(new ProgramCost(one.weightBytes(), 8 * one.cacheBytes(), 8 * one.operations()));
    }

    private static ModelConfig preset(String name) {
        return ModelPresets.named(name).orElseThrow();
    }

    private static Op op(Program program, String name) {
        return program.ops().stream()
                .filter(op -> op.name().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
