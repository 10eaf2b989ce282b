package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** VectorOps gives ScalarOps' bits for every Op, shape, type and number of threads. */
class VectorOpsTest {
    private final ScalarOps scalar = new ScalarOps();
    private VectorOps vector;

    static LongStream seeds() {
        return LongStream.range(0, 60);
    }

    private RandomData start(long seed) {
        vector = new VectorOps(1 + (int) (seed % 4));
        return new RandomData(seed);
    }

    @AfterEach
    void stop() {
        if (vector != null) {
            vector.close();
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void tokenEmbedding(long seed) {
        RandomData data = start(seed);
        DType dtype = DType.OF_MATRICES.get(data.between(0, 3));
        int rows = data.between(1, 40);
        int vocabSize = data.size(257);
        HostMatrix table = RandomMatrix.of(dtype, data.size(389), vocabSize, data);
        int[] tokens = data.ints(rows, vocabSize);
        float[] expected = new float[rows * table.rows()];
        float[] actual = expected.clone();
        float scale = data.coin() ? 1f : 11.3137085f;
        scalar.tokenEmbedding(table, scale, tokens, rows, expected);
        vector.tokenEmbedding(table, scale, tokens, rows, actual);
        Bits.assertSame(dtype.name(), actual, expected);
    }

    @Test
    void mostPartsOfAShareAreTakenInFewTurnsAndTheRestInSmallOnes() {
        assertThat(VectorOps.turns(72, 7200, 100, 2)).containsExactly(0, 27, 33, 35, 36, 63, 69, 71, 72);
        assertThat(VectorOps.turns(3, 300, 100, 2)).containsExactly(0, 1, 1, 2, 3);
        assertThat(VectorOps.turns(72, 7200, 100, 1)).containsExactly(0, 72);
        assertThat(VectorOps.turns(9, 100, 100, 4)).containsExactly(0, 9);
        assertThat(VectorOps.turns(9, 300, 100, 4)).containsExactly(0, 3, 6, 9);
        assertThat(VectorOps.turns(1, Long.MAX_VALUE, 100, 64)).containsExactly(0, 1);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void positionEmbedding(long seed) {
        RandomData data = start(seed);
        BatchRows rows = batch(data).contiguous();
        int width = data.size(389);
        float[] table = data.wildFloats(rows.end() * width);
        float[] expected = data.wildFloats(rows.count() * width);
        float[] actual = expected.clone();
        scalar.positionEmbedding(table, rows, width, expected);
        vector.positionEmbedding(table, rows, width, actual);
        Bits.assertSame("positions", actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void layerNorm(long seed) {
        RandomData data = start(seed);
        int rows = data.between(1, 20);
        int width = data.coin() ? data.size(389) : data.between(500, 1200);
        float[] x = data.wildFloats(rows * width);
        float[] weight = data.floats(width);
        float[] bias = data.floats(width);
        float[] expected = new float[rows * width];
        float[] actual = expected.clone();
        scalar.layerNorm(x, weight, bias, 1e-5f, rows, width, expected);
        vector.layerNorm(x, weight, bias, 1e-5f, rows, width, actual);
        Bits.assertSame("width " + width, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rmsNorm(long seed) {
        RandomData data = start(seed);
        int rows = data.between(1, 20);
        int width = data.coin() ? data.size(389) : data.between(500, 1200);
        float[] x = data.wildFloats(rows * width);
        float[] weight = data.floats(width);
        Residual residual = residual(data);
        float[] expected = data.floats(rows * width);
        float[] actual = expected.clone();
        scalar.rmsNorm(Groups.wholeRow(width), x, weight, 1e-6f, residual, rows, expected);
        vector.rmsNorm(Groups.wholeRow(width), x, weight, 1e-6f, residual, rows, actual);
        Bits.assertSame("width " + width + ", " + residual, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rmsNormOfGroupsInPlace(long seed) {
        RandomData data = start(seed);
        int rows = data.between(1, 20);
        int count = data.between(1, 5);
        int size = data.size(150);
        int firstColumn = data.between(0, 30);
        Groups groups = new Groups(firstColumn + count * size + data.between(0, 30), firstColumn, count, size);
        float[] weight = data.floats(size);
        float[] expected = data.wildFloats(rows * groups.rowWidth());
        float[] actual = expected.clone();
        scalar.rmsNorm(groups, expected, weight, 1e-6f, Residual.NONE, rows, expected);
        vector.rmsNorm(groups, actual, weight, 1e-6f, Residual.NONE, rows, actual);
        Bits.assertSame(groups.toString(), actual, expected);
    }

    private static Residual residual(RandomData data) {
        return switch (data.between(0, 2)) {
            case 0 -> Residual.NONE;
            case 1 -> Residual.ADD;
            default -> Residual.scaled(0.22f);
        };
    }

    private static Scaling scaling(RandomData data) {
        Scaling plain = Scaling.by(0.3f);
        return data.coin() ? plain : plain.capped(data.between(1, 50));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void linear(long seed) {
        RandomData data = start(seed);
        for (DType dtype : DType.OF_MATRICES) {
            int rows = data.between(1, 15);
            int inputs = data.size(389);
            int outputs = data.coin() ? data.size(257) : data.between(500, 3000);
            HostMatrix weight = RandomMatrix.of(dtype, inputs, outputs, data);
            float[] x = data.wildFloats(rows * inputs);
            float[] bias = data.coin() ? data.floats(outputs) : null;
            Activation activation = Activation.values()[data.between(0, Activation.values().length - 1)];
            Residual residual = residual(data);
            float[] expected = data.floats(rows * outputs);
            float[] actual = expected.clone();
            scalar.linear(x, weight, bias, activation, residual, rows, expected);
            vector.linear(x, weight, bias, activation, residual, rows, actual);
            Bits.assertSame(dtype + " " + rows + "x" + inputs + "x" + outputs, actual, expected);
        }
    }

    /**
     * Few rows share each weight that is read, or have a sweep of their own; many share a copy; the most are cut into blocks for two to four
     * threads. Some columns are no whole panel.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 23, 24, 25, 47, 48, 49, 129, 134, 199})
    void linearOfSomeRows(int rows) {
        RandomData data = start(rows);
        for (DType dtype : DType.OF_MATRICES) {
            for (WeightLayout layout : WeightLayout.values()) {
                for (int inputs : new int[] {1, 31, 32, 127, 128, 131, 389}) {
                    int outputs = WeightLayout.PANEL * data.between(0, 3) + data.between(1, WeightLayout.PANEL);
                    HostMatrix weight = RandomMatrix.of(dtype, inputs, outputs, layout, data);
                    float[] x = data.wildFloats(rows * inputs);
                    float[] expected = new float[rows * outputs];
                    float[] actual = expected.clone();
                    scalar.linear(x, weight, null, Activation.NONE, Residual.NONE, rows, expected);
                    vector.linear(x, weight, null, Activation.NONE, Residual.NONE, rows, actual);
                    String shape = rows + "x" + inputs + "x" + outputs;
                    Bits.assertSame(dtype + " " + layout + " " + shape, actual, expected);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rotary(long seed) {
        RandomData data = start(seed);
        RandomBatch batch = batch(data);
        AttentionShape shape = batch.shape();
        double[] frequencies = IntStream.range(0, data.between(1, shape.headDim() / 2))
                .mapToDouble(i -> Math.pow(10000, -2.0 * i / shape.headDim()))
                .toArray();
        RotaryTable table = RotaryTable.of(frequencies, 1, shape.contextLength());
        float[] expected = data.wildFloats(batch.rows() * shape.fusedWidth());
        float[] actual = expected.clone();
        scalar.rotary(shape, table, batch.contiguous(), expected);
        vector.rotary(shape, table, batch.contiguous(), actual);
        Bits.assertSame(shape.toString(), actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void cacheAppend(long seed) {
        RandomData data = start(seed);
        RandomBatch batch = batch(data);
        AttentionShape shape = batch.shape();
        float[] qkv = data.wildFloats(batch.rows() * shape.fusedWidth());
        BatchRows expected = batch.paged();
        BatchRows paged = batch.paged();
        BatchRows contiguous = batch.contiguous();
        scalar.cacheAppend(shape, expected, qkv);
        vector.cacheAppend(shape, paged, qkv);
        vector.cacheAppend(shape, contiguous, qkv);
        List<float[]> elements = batch.elements(expected);
        for (int i = 0; i < elements.size(); i++) {
            Bits.assertSame("pages of " + shape, batch.elements(paged).get(i), elements.get(i));
            Bits.assertSame("one piece of " + shape, batch.elements(contiguous).get(i), elements.get(i));
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void attentionScores(long seed) {
        RandomData data = start(seed);
        RandomBatch batch = batch(data);
        AttentionShape shape = batch.shape();
        float[] qkv = data.wildFloats(batch.rows() * shape.fusedWidth());
        float[] expected = new float[batch.rows() * shape.scoresWidth()];
        float[] paged = expected.clone();
        float[] contiguous = expected.clone();
        Scaling scaling = scaling(data);
        scalar.attentionScores(shape, scaling, batch.contiguous(), qkv, expected);
        vector.attentionScores(shape, scaling, batch.paged(), qkv, paged);
        vector.attentionScores(shape, scaling, batch.contiguous(), qkv, contiguous);
        assertSameScores(batch, paged, expected);
        assertSameScores(batch, contiguous, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void softmax(long seed) {
        RandomData data = start(seed);
        RandomBatch batch = batch(data);
        AttentionShape shape = batch.shape();
        float[] expected = data.floats(batch.rows() * shape.scoresWidth());
        for (int i = 0; i < expected.length; i++) {
            expected[i] *= data.coin() ? 1f : 60f;
        }
        float[] actual = expected.clone();
        scalar.softmax(shape, batch.contiguous(), expected);
        vector.softmax(shape, batch.contiguous(), actual);
        assertSameScores(batch, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void attentionOutput(long seed) {
        RandomData data = start(seed);
        RandomBatch batch = batch(data);
        AttentionShape shape = batch.shape();
        float[] probabilities = data.wildFloats(batch.rows() * shape.scoresWidth());
        float[] expected = new float[batch.rows() * shape.queryWidth()];
        float[] paged = expected.clone();
        float[] contiguous = expected.clone();
        scalar.attentionOutput(shape, batch.contiguous(), probabilities, expected);
        vector.attentionOutput(shape, batch.paged(), probabilities, paged);
        vector.attentionOutput(shape, batch.contiguous(), probabilities, contiguous);
        Bits.assertSame("pages of " + shape, paged, expected);
        Bits.assertSame("one piece of " + shape, contiguous, expected);
    }

    /** Rounded when they are stored, and exact from then on: as float32 that was rounded before. */
    @ParameterizedTest
    @MethodSource("seeds")
    void attentionOnRoundedCaches(long seed) {
        RandomData data = start(seed);
        RandomBatch batch = batch(data);
        AttentionShape shape = batch.shape();
        KvType type = data.coin() ? KvType.BF16 : KvType.F16;
        float[] qkv = data.floats(batch.rows() * shape.fusedWidth());
        float[] probabilities = data.floats(batch.rows() * shape.scoresWidth());
        BatchRows reference = batch.rounded(type).contiguous();
        scalar.cacheAppend(shape, reference, RandomBatch.rounded(type, qkv));
        float[] scores = new float[batch.rows() * shape.scoresWidth()];
        float[] output = new float[batch.rows() * shape.queryWidth()];
        scalar.attentionScores(shape, Scaling.by(0.3f), reference, qkv, scores);
        scalar.attentionOutput(shape, reference, probabilities, output);
        for (HostOps ops : List.of(scalar, vector)) {
            BatchRows rows = batch.paged(type);
            ops.cacheAppend(shape, rows, qkv);
            float[] actualScores = new float[scores.length];
            float[] actualOutput = new float[output.length];
            ops.attentionScores(shape, Scaling.by(0.3f), rows, qkv, actualScores);
            ops.attentionOutput(shape, rows, probabilities, actualOutput);
            assertSameScores(batch, actualScores, scores);
            Bits.assertSame(type + " of " + shape, actualOutput, output);
        }
    }

    /** Where keys and values lie does not matter to the definition either. */
    @ParameterizedTest
    @MethodSource("seeds")
    void definitionOnPages(long seed) {
        RandomData data = start(seed);
        RandomBatch batch = batch(data);
        AttentionShape shape = batch.shape();
        float[] qkv = data.wildFloats(batch.rows() * shape.fusedWidth());
        float[] expected = new float[batch.rows() * shape.scoresWidth()];
        float[] actual = expected.clone();
        scalar.attentionScores(shape, Scaling.by(0.3f), batch.contiguous(), qkv, expected);
        scalar.attentionScores(shape, Scaling.by(0.3f), batch.paged(), qkv, actual);
        assertSameScores(batch, actual, expected);
        float[] expectedOutput = new float[batch.rows() * shape.queryWidth()];
        float[] actualOutput = expectedOutput.clone();
        scalar.attentionOutput(shape, batch.contiguous(), expected, expectedOutput);
        scalar.attentionOutput(shape, batch.paged(), expected, actualOutput);
        Bits.assertSame(shape.toString(), actualOutput, expectedOutput);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void gatedMlp(long seed) {
        RandomData data = start(seed);
        int rows = data.between(1, 20);
        int width = data.coin() ? data.size(389) : data.between(500, 1200);
        float[] gateUp = data.wildFloats(rows * 2 * width);
        float[] expected = new float[rows * width];
        float[] actual = expected.clone();
        Activation activation = Activation.values()[data.between(0, Activation.values().length - 1)];
        scalar.gatedMlp(activation, gateUp, rows, width, expected);
        vector.gatedMlp(activation, gateUp, rows, width, actual);
        Bits.assertSame("width " + width, actual, expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void scale(long seed) {
        RandomData data = start(seed);
        Scaling scaling = scaling(data);
        float[] expected = data.wildFloats(data.between(1, 10_000));
        float[] actual = expected.clone();
        scalar.scale(scaling, expected.length, expected);
        vector.scale(scaling, actual.length, actual);
        Bits.assertSame(scaling.toString(), actual, expected);
    }

    private static AttentionShape attentionShape(RandomData data) {
        int kvHeads = data.between(1, 3);
        int heads = kvHeads * data.between(1, 3);
        int headDim = 2 * data.between(1, 40);
        AttentionShape shape =
                new AttentionShape(heads, kvHeads, headDim, data.coin() ? data.size(389) : data.between(1, 300));
        return data.coin() ? shape : shape.withWindow(data.coin() ? data.between(1, 20) : data.size(389));
    }

    private static RandomBatch batch(RandomData data) {
        return RandomBatch.of(attentionShape(data), data);
    }

    private static void assertSameScores(RandomBatch batch, float[] actual, float[] expected) {
        AttentionShape shape = batch.shape();
        BatchRows rows = batch.contiguous();
        for (int r = 0; r < rows.count(); r++) {
            for (int head = 0; head < shape.heads(); head++) {
                int first = shape.firstVisible(rows.position(r));
                int row = (r * shape.heads() + head) * shape.contextLength() + first;
                int length = rows.position(r) + 1 - first;
                Bits.assertSame(
                        shape + " row " + r + " head " + head,
                        Arrays.copyOfRange(actual, row, row + length),
                        Arrays.copyOfRange(expected, row, row + length));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rowMajorCopiesHoldTheSameElements(long seed) {
        RandomData data = start(seed);
        for (DType dtype : DType.OF_MATRICES) {
            HostMatrix matrix = RandomMatrix.of(dtype, data.size(97), data.size(97), data);
            HostMatrix copy = matrix.rowMajor();
            for (int row = 0; row < matrix.rows(); row++) {
                for (int column = 0; column < matrix.columns(); column++) {
                    assertThat(copy.index(row, column)).isEqualTo((long) row * matrix.columns() + column);
                    assertThat(copy.value(row, column)).isEqualTo(matrix.value(row, column));
                }
            }
        }
    }
}
