package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.WorkGroups;
import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Every gradient kernel gives ScalarBackwardOps' bits; rows that are padding hold NaN, and are left alone. */
class GradientKernelsTest {
    private static final int LAYERS = 3;
    private static final int ONE = 1;
    private static final int STRICT = KernelMath.STRICT;

    private final ScalarBackwardOps oracle = new ScalarBackwardOps();

    static LongStream seeds() {
        return LongStream.range(0, 30);
    }

    /** Rows of which those behind {@code live} are padding, and a layer of three. */
    private record Rows(RandomData data, int count, int live, int layer) {
        static Rows of(long seed) {
            RandomData data = new RandomData(seed);
            int count = data.size(200);
            return new Rows(data, count, count == 1 ? 1 : data.between(1, count), data.between(0, LAYERS - 1));
        }

        IntArray step() {
            return KernelArrays.live(live);
        }

        IntArray layerIndex() {
            return KernelArrays.layer(layer);
        }

        float[] wild(int width) {
            return data.wildFloats(live * width);
        }

        /** The rows, and NaN in the padding. */
        FloatArray padded(float[] values) {
            float[] all = Arrays.copyOf(values, values.length / live * count);
            Arrays.fill(all, values.length, all.length, Float.NaN);
            return FloatArray.fromArray(all);
        }

        FloatArray stacked(float[] values) {
            return KernelArrays.stacked(values, layer, LAYERS);
        }

        void assertRows(String what, FloatArray actual, float[] expected) {
            float[] all = actual.toHeapArray();
            Bits.assertSame(what, all, expected, expected.length);
            for (int i = expected.length; i < all.length; i++) {
                assertThat(all[i]).as(what + ": padding at " + i).isNaN();
            }
        }

        void assertLayer(String what, FloatArray actual, float[] expected) {
            int first = layer * expected.length;
            Bits.assertSame(what, Arrays.copyOfRange(actual.toHeapArray(), first, first + expected.length), expected);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void linear(long seed) {
        Rows rows = Rows.of(seed);
        int inputs = rows.data().size(129);
        int outputs = rows.data().size(389);
        String what = rows.live() + "x" + inputs + "x" + outputs;
        float[] weight = rows.data().wildFloats(inputs * outputs);
        float[] x = rows.wild(inputs);
        float[] dOut = rows.wild(outputs);
        float[] dX = rows.data().floats(rows.live() * inputs);
        float[] dWeight = rows.data().floats(inputs * outputs);
        float[] dBias = rows.data().floats(outputs);
        FloatArray xRows = rows.padded(x);
        FloatArray dOutRows = rows.padded(dOut);
        FloatArray actualX = rows.padded(dX);
        FloatArray actualWeight = rows.stacked(dWeight);
        FloatArray actualBias = rows.stacked(dBias);
        LinearGradientKernels.addToInputs(
                dOutRows, rows.stacked(weight), rows.layerIndex(), rows.step(), actualX, rows.count(), inputs, outputs);
        LinearGradientKernels.addToWeights(
                xRows, dOutRows, rows.layerIndex(), rows.step(), actualWeight, inputs, outputs);
        LinearGradientKernels.addToBias(dOutRows, rows.layerIndex(), rows.step(), actualBias, ONE, outputs);
        MemorySegment elements = MemorySegment.ofArray(weight);
        oracle.linearInput(
                new HostMatrix(DType.F32, inputs, outputs, elements, MemorySegment.NULL), rows.live(), dOut, dX);
        oracle.linearWeight(x, rows.live(), inputs, outputs, dOut, dWeight);
        oracle.linearBias(rows.live(), outputs, dOut, dBias);
        rows.assertRows(what + " inputs", actualX, dX);
        rows.assertLayer(what + " weights", actualWeight, dWeight);
        rows.assertLayer(what + " bias", actualBias, dBias);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void linearInTiles(long seed) {
        Rows rows = Rows.of(seed);
        int inputs = rows.data().size(200);
        int outputs = rows.data().size(389);
        String what = rows.live() + "x" + inputs + "x" + outputs;
        float[] weight = rows.data().wildFloats(inputs * outputs);
        float[] x = rows.wild(inputs);
        float[] dOut = rows.wild(outputs);
        float[] dX = rows.data().floats(rows.live() * inputs);
        float[] dWeight = rows.data().floats(inputs * outputs);
        FloatArray weights = rows.stacked(weight);
        FloatArray xRows = rows.padded(x);
        FloatArray dOutRows = rows.padded(dOut);
        FloatArray actualX = rows.padded(dX);
        FloatArray actualWeight = rows.stacked(dWeight);
        IntArray layer = rows.layerIndex();
        IntArray step = rows.step();
        FloatArray noFloats = KernelArrays.nan(1);
        IntArray noWords = new IntArray(1);
        runTiles(
                LinearTileGroupKernels.gradientItems(rows.count(), inputs),
                context -> LinearTileGroupKernels.tileProducts(
                        context,
                        dOutRows,
                        weights,
                        noWords,
                        noFloats,
                        noFloats,
                        layer,
                        step,
                        actualX,
                        LinearTileGroupKernels.INPUT_GRADIENTS,
                        WeightFormat.F32,
                        LinearTileGroupKernels.tileRows(rows.count()),
                        rows.count(),
                        ONE,
                        outputs,
                        inputs));
        runTiles(
                LinearTileGroupKernels.gradientItems(inputs, outputs),
                context -> LinearTileGroupKernels.tileProducts(
                        context,
                        xRows,
                        dOutRows,
                        noWords,
                        noFloats,
                        noFloats,
                        layer,
                        step,
                        actualWeight,
                        LinearTileGroupKernels.WEIGHT_GRADIENTS,
                        WeightFormat.F32,
                        LinearTileGroupKernels.tileRows(inputs),
                        inputs,
                        ONE,
                        rows.count(),
                        outputs));
        MemorySegment elements = MemorySegment.ofArray(weight);
        oracle.linearInput(
                new HostMatrix(DType.F32, inputs, outputs, elements, MemorySegment.NULL), rows.live(), dOut, dX);
        oracle.linearWeight(x, rows.live(), inputs, outputs, dOut, dWeight);
        rows.assertRows(what + " inputs", actualX, dX);
        rows.assertLayer(what + " weights", actualWeight, dWeight);
    }

    private static void runTiles(long items, Consumer<KernelContext> kernel) {
        WorkGroups.run(Math.toIntExact(items / LinearTileGroupKernels.GROUP), LinearTileGroupKernels.GROUP, kernel);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void norms(long seed) {
        for (boolean centered : new boolean[] {true, false}) {
            Rows rows = Rows.of(seed);
            int width = rows.data().size(389);
            String what = (centered ? "layer norm of " : "RMS norm of ") + width;
            float[] x = rows.wild(width);
            float[] weight = rows.data().floats(width);
            float[] dOut = rows.wild(width);
            float[] dX = rows.data().floats(rows.live() * width);
            float[] dWeight = rows.data().floats(width);
            FloatArray xRows = rows.padded(x);
            FloatArray dOutRows = rows.padded(dOut);
            FloatArray weights = rows.stacked(weight);
            FloatArray statistics = KernelArrays.nan(rows.count() * NormGradientKernels.STATISTICS);
            FloatArray actualX = rows.padded(dX);
            FloatArray actualWeight = rows.stacked(dWeight);
            NormGradientKernels.rowStatistics(
                    xRows,
                    dOutRows,
                    weights,
                    rows.layerIndex(),
                    rows.step(),
                    statistics,
                    ONE,
                    rows.count(),
                    width,
                    1e-5f,
                    centered ? 1 : 0,
                    STRICT);
            NormGradientKernels.addToInputs(
                    xRows, dOutRows, weights, statistics, rows.layerIndex(), rows.step(), actualX, rows.count(), width);
            NormGradientKernels.addToWeights(
                    xRows, dOutRows, statistics, rows.layerIndex(), rows.step(), actualWeight, ONE, width);
            if (centered) {
                oracle.layerNorm(x, weight, 1e-5f, rows.live(), width, dOut, dX, dWeight, new float[width]);
            } else {
                oracle.rmsNorm(x, weight, 1e-5f, rows.live(), width, dOut, dX, dWeight);
            }
            rows.assertRows(what + ", inputs", actualX, dX);
            rows.assertLayer(what + ", weights", actualWeight, dWeight);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void attention(long seed) {
        Rows rows = Rows.of(seed);
        RandomData data = rows.data();
        int hpk = data.between(1, 3);
        int kvHeads = data.between(1, 3);
        int heads = hpk * kvHeads;
        int headDim = 2 * data.between(1, 20);
        int context = rows.count() + data.between(0, 5);
        AttentionShape shape = new AttentionShape(heads, kvHeads, headDim, context);
        float[] p = rows.wild(shape.scoresWidth());
        float[] qkv = rows.wild(shape.fusedWidth());
        float[] dOut = rows.wild(shape.queryWidth());
        float[] dQkv = data.floats(rows.live() * shape.fusedWidth());
        float[] dScores = new float[p.length];
        FloatArray probabilities = rows.padded(p);
        FloatArray qkvRows = rows.padded(qkv);
        FloatArray dOutRows = rows.padded(dOut);
        FloatArray actual = rows.padded(dQkv);
        FloatArray scores = KernelArrays.nan(rows.count() * shape.scoresWidth());
        FloatArray sums = KernelArrays.nan(rows.count() * heads);
        int count = rows.count();
        IntArray step = rows.step();
        AttentionGradientKernels.probabilityGradients(
                qkvRows, dOutRows, step, scores, count, heads, hpk, headDim, context);
        AttentionGradientKernels.addToValues(
                probabilities, dOutRows, step, actual, count, heads, hpk, headDim, context);
        AttentionGradientKernels.probabilitySums(probabilities, scores, step, sums, count, heads, context);
        AttentionGradientKernels.scoreGradients(probabilities, sums, step, scores, count, heads, context);
        AttentionGradientKernels.addToQueries(qkvRows, scores, step, actual, count, heads, hpk, headDim, context, 0.3f);
        AttentionGradientKernels.addToKeys(qkvRows, scores, step, actual, count, heads, hpk, headDim, context, 0.3f);
        oracle.attentionOutput(shape, p, qkv, rows.live(), dOut, dScores, dQkv);
        oracle.softmax(shape, p, rows.live(), dScores);
        oracle.attentionScores(shape, 0.3f, qkv, rows.live(), dScores, dQkv);
        rows.assertRows(rows.live() + " rows of " + shape, actual, dQkv);
        assertSameScores(shape, rows.live(), scores.toHeapArray(), dScores);
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

    @ParameterizedTest
    @MethodSource("seeds")
    void activations(long seed) {
        Rows rows = Rows.of(seed);
        int width = rows.data().size(129);
        float[] x = rows.wild(width);
        float[] dOut = rows.wild(width);
        FloatArray gelu = rows.padded(dOut);
        ElementGradientKernels.geluGradients(rows.padded(x), gelu, rows.step(), gelu, rows.count(), width, STRICT);
        float[] expected = new float[x.length];
        oracle.activation(Activation.GELU_TANH, x.length, x, dOut, expected);
        rows.assertRows("GELU", gelu, expected);

        float[] gateUp = rows.wild(2 * width);
        float[] dGateUp = rows.data().floats(rows.live() * 2 * width);
        FloatArray actual = rows.padded(dGateUp);
        ElementGradientKernels.addToGateAndUp(
                rows.padded(gateUp), rows.padded(dOut), rows.step(), actual, rows.count(), width, STRICT);
        oracle.swiGlu(gateUp, rows.live(), width, dOut, dGateUp);
        rows.assertRows("SwiGLU", actual, dGateUp);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rotation(long seed) {
        Rows rows = Rows.of(seed);
        int kvHeads = rows.data().between(1, 3);
        int heads = kvHeads * rows.data().between(1, 3);
        int headDim = 2 * rows.data().between(1, 20);
        int positions = rows.count() + 3;
        AttentionShape shape = new AttentionShape(heads, kvHeads, headDim, positions);
        int pairs = rows.data().coin() ? headDim / 2 : rows.data().between(1, headDim / 2);
        double[] frequencies = IntStream.range(0, pairs)
                .mapToDouble(i -> Math.pow(10000, -2.0 * i / headDim))
                .toArray();
        RotaryTable table = RotaryTable.of(frequencies, 1, positions);
        float[] dQkv = rows.wild(shape.fusedWidth());
        FloatArray actual = rows.padded(dQkv);
        ElementGradientKernels.rotateBack(
                KernelArrays.angles(table),
                rows.step(),
                actual,
                rows.count(),
                heads,
                kvHeads,
                headDim,
                pairs,
                positions);
        oracle.rotary(shape, table, rows.live(), dQkv);
        rows.assertRows(shape.toString(), actual, dQkv);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void embeddings(long seed) {
        Rows rows = Rows.of(seed);
        int width = rows.data().size(129);
        int vocabSize = rows.data().size(200);
        int[] tokens = rows.data().ints(rows.count(), vocabSize);
        float[] dOut = rows.wild(width);
        FloatArray dOutRows = rows.padded(dOut);
        float[] dTable = rows.data().floats(width * vocabSize);
        FloatArray actualTable = FloatArray.fromArray(dTable);
        ElementGradientKernels.addToTokens(
                IntArray.fromArray(tokens), dOutRows, rows.step(), actualTable, ONE, width, vocabSize);
        oracle.tokenEmbedding(tokens, rows.live(), width, vocabSize, dOut, dTable);
        Bits.assertSame("tokens", actualTable.toHeapArray(), dTable);

        float[] dPositions = rows.data().floats(rows.live() * width);
        FloatArray actualPositions = rows.padded(dPositions);
        ElementGradientKernels.addRows(dOutRows, rows.step(), actualPositions, rows.count(), width);
        oracle.positionEmbedding(rows.live(), width, dOut, dPositions);
        rows.assertRows("positions", actualPositions, dPositions);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void loss(long seed) {
        Rows rows = Rows.of(seed);
        int vocabSize = rows.data().size(389);
        int[] targets = rows.data().ints(rows.count(), vocabSize);
        float[] logits = rows.data().floats(rows.live() * vocabSize);
        FloatArray actual = rows.padded(logits);
        FloatArray totals = KernelArrays.nan(rows.count() * ElementGradientKernels.TOTALS);
        IntArray wanted = IntArray.fromArray(targets);
        ElementGradientKernels.rowTotals(actual, wanted, rows.step(), totals, ONE, rows.count(), vocabSize, STRICT);
        ElementGradientKernels.logitGradients(
                actual,
                totals,
                wanted,
                FloatArray.fromElements(0.3f),
                rows.step(),
                actual,
                rows.count(),
                vocabSize,
                STRICT);
        float[] expected = new float[logits.length];
        double loss = oracle.crossEntropy(logits, targets, rows.live(), vocabSize, 0.3f, expected);
        rows.assertRows("logits of " + vocabSize, actual, expected);
        double found = 0;
        for (int r = 0; r < rows.live(); r++) {
            int of = r * ElementGradientKernels.TOTALS;
            float sum = totals.get(of + ElementGradientKernels.EXPONENTIALS);
            float below = totals.get(of + ElementGradientKernels.WANTED);
            found += StrictMath.log(sum) + ((double) totals.get(of + ElementGradientKernels.LARGEST) - below);
        }
        assertThat(found).isEqualTo(loss);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void descent(long seed) {
        RandomData data = new RandomData(seed);
        int size = data.size(389);
        float[] weights = data.wildFloats(size);
        float[] gradients = data.wildFloats(size);
        FloatArray moved = FloatArray.fromArray(weights);
        FloatArray slopes = FloatArray.fromArray(gradients);
        DescentKernels.descend(FloatArray.fromElements(-0.3f), slopes, moved, ONE, size);
        float[] expected = new float[size];
        for (int i = 0; i < size; i++) {
            expected[i] = Math.fma(-0.3f, gradients[i], weights[i]);
        }
        Bits.assertSame("weights", moved.toHeapArray(), expected);
        DescentKernels.begin(moved, slopes, ONE, size);
        Bits.assertSame("weights are left alone", moved.toHeapArray(), expected);
        Bits.assertSame("gradients", slopes.toHeapArray(), new float[size]);
        DescentKernels.clear(moved, ONE, size);
        Bits.assertSame("cleared", moved.toHeapArray(), new float[size]);
    }

    /** Copies between a row-major array and a layer of a stack; padding and other layers are left alone. */
    @ParameterizedTest
    @MethodSource("seeds")
    void rowsOfALayer(long seed) {
        Rows rows = Rows.of(seed);
        int width = rows.data().size(129);
        int size = rows.count() * width;
        float[] values = rows.wild(width);
        FloatArray stack = KernelArrays.nan((LAYERS + 1) * size);
        RowKernels.putRows(rows.padded(values), rows.layerIndex(), rows.step(), stack, 1, rows.count(), width);
        float[] expected = KernelArrays.nan((LAYERS + 1) * size).toHeapArray();
        System.arraycopy(values, 0, expected, (rows.layer() + 1) * size, values.length);
        Bits.assertSame("stack", stack.toHeapArray(), expected);
        FloatArray taken = KernelArrays.nan(size);
        RowKernels.takeRows(stack, KernelArrays.layer(rows.layer() + 1), rows.step(), taken, rows.count(), width);
        rows.assertRows("taken", taken, values);
        RowKernels.clearRows(rows.step(), taken, rows.count(), width);
        rows.assertRows("cleared", taken, new float[values.length]);
    }
}
