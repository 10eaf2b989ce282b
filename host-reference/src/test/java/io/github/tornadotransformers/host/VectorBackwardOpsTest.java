package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** VectorBackwardOps gives ScalarBackwardOps' bits for every Op, shape and number of threads. */
class VectorBackwardOpsTest {
    private final ScalarBackwardOps scalar = new ScalarBackwardOps();
    private VectorOps forward;
    private VectorBackwardOps vector;

    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    private RandomData start(long seed) {
        forward = new VectorOps(1 + (int) (seed % 4));
        vector = new VectorBackwardOps(forward);
        return new RandomData(seed);
    }

    @AfterEach
    void stop() {
        forward.close();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void tokenEmbedding(long seed) {
        RandomData data = start(seed);
        int rows = data.size(257);
        int width = data.size(129);
        int vocabSize = data.size(200);
        int[] tokens = data.ints(rows, vocabSize);
        float[] dOut = data.wildFloats(rows * width);
        float[] expected = data.floats(width * vocabSize);
        float[] actual = expected.clone();
        scalar.tokenEmbedding(tokens, rows, width, vocabSize, dOut, expected);
        vector.tokenEmbedding(tokens, rows, width, vocabSize, dOut, actual);
        Bits.assertSame(rows + " rows of " + width, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void positionEmbedding(long seed) {
        RandomData data = start(seed);
        int rows = data.size(129);
        int width = data.size(129);
        float[] dOut = data.wildFloats(rows * width);
        float[] expected = data.floats((rows + 1) * width);
        float[] actual = expected.clone();
        scalar.positionEmbedding(rows, width, dOut, expected);
        vector.positionEmbedding(rows, width, dOut, actual);
        Bits.assertSame(rows + " rows of " + width, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void layerNorm(long seed) {
        RandomData data = start(seed);
        int rows = data.size(257);
        int width = data.size(389);
        float[] x = data.wildFloats(rows * width);
        float[] weight = data.floats(width);
        float[] dOut = data.wildFloats(rows * width);
        float[][] expected = {data.floats(rows * width), data.floats(width), data.floats(width)};
        float[][] actual = copies(expected);
        scalar.layerNorm(x, weight, 1e-5f, rows, width, dOut, expected[0], expected[1], expected[2]);
        vector.layerNorm(x, weight, 1e-5f, rows, width, dOut, actual[0], actual[1], actual[2]);
        assertSame(rows + " rows of " + width, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rmsNorm(long seed) {
        RandomData data = start(seed);
        int rows = data.size(257);
        int width = data.size(389);
        float[] x = data.wildFloats(rows * width);
        float[] weight = data.floats(width);
        float[] dOut = data.wildFloats(rows * width);
        float[][] expected = {data.floats(rows * width), data.floats(width)};
        float[][] actual = copies(expected);
        scalar.rmsNorm(x, weight, 1e-6f, rows, width, dOut, expected[0], expected[1]);
        vector.rmsNorm(x, weight, 1e-6f, rows, width, dOut, actual[0], actual[1]);
        assertSame(rows + " rows of " + width, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void linear(long seed) {
        RandomData data = start(seed);
        int rows = data.size(257);
        int inputs = data.size(129);
        int outputs = data.size(389);
        HostMatrix weight = RandomMatrix.of(DType.F32, inputs, outputs, data);
        float[] x = data.wildFloats(rows * inputs);
        float[] dOut = data.wildFloats(rows * outputs);
        float[][] expected = {data.floats(rows * inputs), data.floats(inputs * outputs), data.floats(outputs)};
        float[][] actual = copies(expected);
        scalar.linearInput(weight, rows, dOut, expected[0]);
        scalar.linearWeight(x, rows, inputs, outputs, dOut, expected[1]);
        scalar.linearBias(rows, outputs, dOut, expected[2]);
        vector.linearInput(weight, rows, dOut, actual[0]);
        vector.linearWeight(x, rows, inputs, outputs, dOut, actual[1]);
        vector.linearBias(rows, outputs, dOut, actual[2]);
        assertSame(rows + "x" + inputs + "x" + outputs, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void activation(long seed) {
        RandomData data = start(seed);
        int count = data.size(389) * data.size(129);
        for (Activation activation : List.of(Activation.NONE, Activation.GELU_TANH)) {
            float[] x = data.wildFloats(count);
            float[] dOut = data.wildFloats(count);
            float[][] expected = {new float[count], new float[count]};
            float[][] actual = {new float[count], dOut};
            scalar.activate(activation, count, x, expected[0]);
            scalar.activation(activation, count, x, dOut, expected[1]);
            vector.activate(activation, count, x, actual[0]);
            vector.activation(activation, count, x, dOut, dOut);
            assertSame(activation + " of " + count, actual, expected);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rotary(long seed) {
        RandomData data = start(seed);
        AttentionShape shape = attentionShape(data);
        int rows = data.between(1, shape.contextLength());
        int pairs = data.coin() ? shape.headDim() / 2 : data.between(1, Math.max(1, shape.headDim() / 2));
        double[] frequencies = IntStream.range(0, pairs)
                .mapToDouble(i -> Math.pow(10000, -2.0 * i / shape.headDim()))
                .toArray();
        RotaryTable table = RotaryTable.of(frequencies, 1, shape.contextLength());
        float[] expected = data.wildFloats(rows * shape.fusedWidth());
        float[] actual = expected.clone();
        scalar.rotary(shape, table, rows, expected);
        vector.rotary(shape, table, rows, actual);
        Bits.assertSame(shape.toString(), actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void attentionOutput(long seed) {
        RandomData data = start(seed);
        AttentionShape shape = attentionShape(data);
        int rows = data.between(1, shape.contextLength());
        float[] probabilities = data.wildFloats(rows * shape.scoresWidth());
        float[] qkv = data.wildFloats(rows * shape.fusedWidth());
        float[] dOut = data.wildFloats(rows * shape.queryWidth());
        float[] expected = data.floats(rows * shape.fusedWidth());
        float[] actual = expected.clone();
        float[] expectedScores = new float[rows * shape.scoresWidth()];
        float[] actualScores = expectedScores.clone();
        scalar.attentionOutput(shape, probabilities, qkv, rows, dOut, expectedScores, expected);
        vector.attentionOutput(shape, probabilities, qkv, rows, dOut, actualScores, actual);
        Bits.assertSame(rows + " rows of " + shape, actual, expected);
        assertSameScores(shape, rows, actualScores, expectedScores);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void softmax(long seed) {
        RandomData data = start(seed);
        AttentionShape shape = attentionShape(data);
        int rows = data.between(1, shape.contextLength());
        float[] probabilities = data.wildFloats(rows * shape.scoresWidth());
        float[] expected = data.wildFloats(rows * shape.scoresWidth());
        float[] actual = expected.clone();
        scalar.softmax(shape, probabilities, rows, expected);
        vector.softmax(shape, probabilities, rows, actual);
        assertSameScores(shape, rows, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void attentionScores(long seed) {
        RandomData data = start(seed);
        AttentionShape shape = attentionShape(data);
        int rows = data.between(1, shape.contextLength());
        float[] qkv = data.wildFloats(rows * shape.fusedWidth());
        float[] dScores = data.wildFloats(rows * shape.scoresWidth());
        float[] expected = data.floats(rows * shape.fusedWidth());
        float[] actual = expected.clone();
        scalar.attentionScores(shape, 0.3f, qkv, rows, dScores, expected);
        vector.attentionScores(shape, 0.3f, qkv, rows, dScores, actual);
        Bits.assertSame(rows + " rows of " + shape, actual, expected);
    }

    /** What lies behind a row's own position belongs to nobody: it may be anything. */
    @ParameterizedTest
    @MethodSource("seeds")
    void attentionReadsNothingBehindTheDiagonal(long seed) {
        RandomData data = start(seed);
        AttentionShape shape = attentionShape(data);
        int rows = data.between(1, shape.contextLength());
        float[] qkv = data.floats(rows * shape.fusedWidth());
        float[] dOut = data.floats(rows * shape.queryWidth());
        float[] scores = data.floats(rows * shape.scoresWidth());
        float[] expected = new float[rows * shape.fusedWidth()];
        float[] actual = expected.clone();
        scalar.attentionOutput(shape, scores, qkv, rows, dOut, new float[scores.length], expected);
        scalar.attentionScores(shape, 0.3f, qkv, rows, scores, expected);
        for (int r = 0; r < rows; r++) {
            for (int head = 0; head < shape.heads(); head++) {
                int row = (r * shape.heads() + head) * shape.contextLength();
                Arrays.fill(scores, row + r + 1, row + shape.contextLength(), Float.NaN);
            }
        }
        vector.attentionOutput(shape, scores, qkv, rows, dOut, new float[scores.length], actual);
        vector.attentionScores(shape, 0.3f, qkv, rows, scores, actual);
        Bits.assertSame(rows + " rows of " + shape, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void swiGlu(long seed) {
        RandomData data = start(seed);
        int rows = data.between(1, 20);
        int width = data.size(389);
        float[] gateUp = data.wildFloats(rows * 2 * width);
        float[] dOut = data.wildFloats(rows * width);
        float[] expected = data.floats(rows * 2 * width);
        float[] actual = expected.clone();
        scalar.swiGlu(gateUp, rows, width, dOut, expected);
        vector.swiGlu(gateUp, rows, width, dOut, actual);
        Bits.assertSame("width " + width, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void crossEntropy(long seed) {
        RandomData data = start(seed);
        int rows = data.size(129);
        int vocabSize = data.size(389);
        int[] targets = data.ints(rows, vocabSize);
        float[] logits = data.floats(rows * vocabSize);
        float[] expected = new float[rows * vocabSize];
        float[] actual = data.coin() ? logits.clone() : new float[rows * vocabSize];
        double expectedLoss = scalar.crossEntropy(logits, targets, rows, vocabSize, 0.3f, expected);
        boolean inPlace = Arrays.equals(actual, logits);
        double loss = vector.crossEntropy(inPlace ? actual : logits, targets, rows, vocabSize, 0.3f, actual);
        Bits.assertSame(rows + " rows of " + vocabSize, actual, expected);
        Assertions.assertThat(loss).isEqualTo(expectedLoss);
    }

    private static AttentionShape attentionShape(RandomData data) {
        int kvHeads = data.between(1, 3);
        int heads = kvHeads * data.between(1, 3);
        int headDim = 2 * data.between(1, 40);
        return new AttentionShape(heads, kvHeads, headDim, data.size(200));
    }

    private static float[][] copies(float[][] arrays) {
        return Arrays.stream(arrays).map(float[]::clone).toArray(float[][]::new);
    }

    private static void assertSame(String what, float[][] actual, float[][] expected) {
        for (int i = 0; i < expected.length; i++) {
            Bits.assertSame(what + ", array " + i, actual[i], expected[i]);
        }
    }

    private static void assertSameScores(AttentionShape shape, int rows, float[] actual, float[] expected) {
        for (int r = 0; r < rows; r++) {
            for (int head = 0; head < shape.heads(); head++) {
                int row = (r * shape.heads() + head) * shape.contextLength();
                Bits.assertSame(
                        shape + " row " + r + " head " + head,
                        Arrays.copyOfRange(actual, row, row + r + 1),
                        Arrays.copyOfRange(expected, row, row + r + 1));
            }
        }
    }
}
