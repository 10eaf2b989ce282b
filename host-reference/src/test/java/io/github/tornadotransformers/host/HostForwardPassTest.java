package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whole random models of all families: the bits do not depend on engine, threads, chunks or cache. */
class HostForwardPassTest {
    private record Model(String name, Program program, Weights weights, int[] tokens) {
        static Model of(RandomData data) {
            ModelConfig config = RandomConfigs.of(data);
            DType dtype = DType.OF_MATRICES.get(data.between(0, 3));
            WeightLayout layout = data.coin() ? WeightLayout.PANELS : WeightLayout.ROW_MAJOR;
            Program program = config.program(data.between(1, config.contextLength()));
            int[] tokens = data.ints(data.between(1, program.contextLength()), config.vocabSize());
            return new Model(dtype + " " + config, program, RandomModels.weights(program, dtype, layout, data), tokens);
        }

        HostForwardPass scalar(int chunkRows) {
            return new HostForwardPass(program, weights, new ScalarOps(), chunkRows);
        }

        HostForwardPass vector(int threads, int chunkRows) {
            return new HostForwardPass(program, weights, new VectorOps(threads), chunkRows);
        }
    }

    static LongStream seeds() {
        return LongStream.range(0, 66);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void vectorTraceEqualsScalarTrace(long seed) {
        RandomData data = new RandomData(seed);
        Model model = Model.of(data);
        try (HostForwardPass scalar = model.scalar(Integer.MAX_VALUE);
                HostForwardPass vector = model.vector(data.between(1, 4), Integer.MAX_VALUE)) {
            Map<String, float[]> expected = trace(scalar, model.tokens);
            Map<String, float[]> actual = trace(vector, model.tokens);
            expected.forEach((point, values) -> Bits.assertSame(model.name + " " + point, actual.get(point), values));
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void chunksAndCacheDoNotChangeALogit(long seed) {
        RandomData data = new RandomData(seed);
        Model model = Model.of(data);
        int[] tokens = model.tokens;
        int vocabSize = model.program.vocabSize();
        float[] expected = new float[tokens.length * vocabSize];
        try (HostForwardPass whole = model.scalar(Integer.MAX_VALUE)) {
            whole.forwardAll(
                    tokens,
                    0,
                    (position, logits, offset) ->
                            System.arraycopy(logits, offset, expected, position * vocabSize, vocabSize));
        }
        try (HostForwardPass chunked = model.vector(data.between(1, 4), data.between(1, 50))) {
            for (int start = 0; start < tokens.length; ) {
                int end = data.between(start + 1, tokens.length);
                float[] logits = chunked.forward(Arrays.copyOfRange(tokens, start, end), start);
                float[] row = Arrays.copyOfRange(expected, (end - 1) * vocabSize, end * vocabSize);
                Bits.assertSame(model.name + " position " + (end - 1), logits, row);
                start = end;
            }
        }
    }

    /** Copies of what each Op has written, without the scores of positions that are not seen. */
    private static Map<String, float[]> trace(HostForwardPass pass, int[] tokens) {
        Map<String, float[]> points = new LinkedHashMap<>();
        int context = pass.program().contextLength();
        pass.trace((layer, op, firstPosition, rows, output) -> {
            int width = op.output().width();
            float[] copy = Arrays.copyOf(output, rows * width);
            if (op instanceof Op.AttentionScores || op instanceof Op.Softmax) {
                AttentionShape shape = op.attention().orElseThrow();
                for (int i = 0; i < copy.length; i++) {
                    int position = firstPosition + i / width;
                    boolean seen = i % context <= position && i % context >= shape.firstVisible(position);
                    copy[i] = seen ? copy[i] : 0f;
                }
            }
            points.put(layer + " " + op.name(), copy);
        });
        pass.forward(tokens, 0);
        return points;
    }

    @Test
    void refusesWhatDoesNotFit() {
        Model model = Model.of(new RandomData(1));
        int context = model.program.contextLength();
        int vocabSize = model.program.vocabSize();
        try (HostForwardPass pass = model.scalar(8)) {
            assertThatThrownBy(() -> pass.forward(new int[0], 0)).hasMessageContaining("at least one token");
            assertThatThrownBy(() -> pass.forward(new int[2], context - 1))
                    .hasMessage(
                            "positions " + (context - 1) + " to " + context + " do not fit a context of " + context);
            assertThatThrownBy(() -> pass.forward(new int[1], -1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pass.forward(new int[] {vocabSize}, 0))
                    .hasMessage("token id " + vocabSize + " is not in the vocabulary of " + vocabSize);
            assertThatThrownBy(() -> pass.forward(new int[] {-1}, 0)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
