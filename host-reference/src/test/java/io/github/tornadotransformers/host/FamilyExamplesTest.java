package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.checkpoint.RandomCheckpoint;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.Bits;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The examples that every family offers: written, read again and run, whole, in chunks and token by token. */
class FamilyExamplesTest {
    private static final int TOKENS = 40;

    @TempDir
    private Path folder;

    static Stream<Arguments> examples() {
        return ModelFamilies.all().stream()
                .flatMap(family -> IntStream.range(0, family.examples().size())
                        .mapToObj(i -> Arguments.of(
                                family.modelType() + " " + i, family.examples().get(i))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("examples")
    void theConfigThatIsWrittenIsReadAgain(String name, ModelConfig config) throws IOException {
        RandomCheckpoint.write(folder, config, 1, StoredType.F32);
        Checkpoint checkpoint = Checkpoint.open(folder);
        assertThat(checkpoint.config()).isEqualTo(config);
        assertThat(checkpoint.notices()).isEmpty();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("examples")
    void everyEngineAndEveryChunkGivesTheSameBits(String name, ModelConfig config) {
        Program program = config.program(TOKENS);
        int[] tokens =
                new SplittableRandom(3).ints(TOKENS, 0, config.vocabSize()).toArray();
        float[] expected = lastLogits(config, program, DType.F32, new ScalarOps(), tokens, TOKENS);
        assertThat(expected).doesNotContain(Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY);
        for (int chunk : new int[] {TOKENS, 7, 1}) {
            Bits.assertSame(
                    "scalar, " + chunk,
                    lastLogits(config, program, DType.F32, new ScalarOps(), tokens, chunk),
                    expected);
            Bits.assertSame(
                    "host, " + chunk,
                    lastLogits(config, program, DType.F32, new VectorOps(2), tokens, chunk),
                    expected);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("examples")
    void everyWeightTypeGivesTheSameBitsOnEveryEngine(String name, ModelConfig config) {
        Program program = config.program(TOKENS);
        int[] tokens =
                new SplittableRandom(3).ints(TOKENS, 0, config.vocabSize()).toArray();
        for (DType dtype : DType.OF_MATRICES) {
            Bits.assertSame(
                    dtype.name(),
                    lastLogits(config, program, dtype, new VectorOps(3), tokens, TOKENS),
                    lastLogits(config, program, dtype, new ScalarOps(), tokens, TOKENS));
        }
    }

    private static float[] lastLogits(
            ModelConfig config, Program program, DType dtype, HostOps ops, int[] tokens, int chunk) {
        try (Arena arena = Arena.ofShared()) {
            Weights weights =
                    new RandomModel(config, 1).load(program, dtype, new ArenaAllocator(arena, WeightLayout.ROW_MAJOR));
            try (HostForwardPass pass = new HostForwardPass(program, weights, ops)) {
                float[] logits = {};
                for (int first = 0; first < tokens.length; first += chunk) {
                    int end = Math.min(first + chunk, tokens.length);
                    logits = pass.forward(Arrays.copyOfRange(tokens, first, end), first);
                }
                return logits.clone();
            }
        }
    }
}
