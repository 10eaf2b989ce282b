package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.host.BatchRows;
import io.github.tornadotransformers.host.KvLayer;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Rotation, cache and attention: everything that depends on where a row stands in the text. */
class AttentionKernelsTest {
    private static final int LAYERS = 2;

    private final ScalarOps oracle = new ScalarOps();

    static LongStream seeds() {
        return LongStream.range(0, 60);
    }

    /** Random heads and rows; rows behind {@code live} are padding, and may stand behind the context's end. */
    private record Place(AttentionShape shape, int rows, int live, int position, int layer) {
        static Place of(RandomData data) {
            int kvHeads = data.between(1, 3);
            int heads = kvHeads * data.between(1, 3);
            int context = data.coin() ? data.size(389) : data.between(1, 300);
            AttentionShape whole = new AttentionShape(heads, kvHeads, 2 * data.between(1, 40), context);
            AttentionShape shape = data.coin() ? whole : whole.withWindow(data.between(1, context + 1));
            int rows = data.between(1, 9);
            int live = rows == 1 ? 1 : data.between(1, Math.min(rows, context));
            return new Place(shape, rows, live, data.between(0, context - live), data.between(0, LAYERS - 1));
        }

        IntArray step() {
            return KernelArrays.step(position, live, live - 1);
        }

        IntArray layerIndex() {
            return KernelArrays.layer(layer);
        }

        int window() {
            return Math.min(shape.window(), shape.contextLength());
        }

        int slices() {
            return Slices.count(shape.contextLength());
        }

        FloatArray stacked(float[] cache) {
            return KernelArrays.stacked(cache, layer, LAYERS);
        }

        BatchRows batch() {
            return BatchRows.of(position, live);
        }

        BatchRows batch(float[] keys, float[] values) {
            return BatchRows.of(position, live, KvLayer.contiguous(shape, keys, values));
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rotate(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        int pairs = data.coin() ? shape.headDim() / 2 : data.between(1, shape.headDim() / 2);
        double[] frequencies = IntStream.range(0, pairs)
                .mapToDouble(i -> Math.pow(10000, -2.0 * i / shape.headDim()))
                .toArray();
        RotaryTable table = RotaryTable.of(frequencies, 1, shape.contextLength());
        float[] expected = data.wildFloats(place.rows() * shape.fusedWidth());
        FloatArray actual = FloatArray.fromArray(expected);
        oracle.rotary(shape, table, place.batch(), expected);
        RotaryKernels.rotatePairs(
                KernelArrays.angles(table),
                place.step(),
                actual,
                place.rows(),
                shape.heads(),
                shape.kvHeads(),
                shape.headDim(),
                pairs,
                table.positions());
        Bits.assertSame(place.toString(), actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void append(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        float[] qkv = data.wildFloats(place.rows() * shape.fusedWidth());
        float[] expectedKeys = data.floats((int) shape.cacheLayerSize());
        float[] expectedValues = data.floats((int) shape.cacheLayerSize());
        FloatArray keys = place.stacked(expectedKeys);
        FloatArray values = place.stacked(expectedValues);
        oracle.cacheAppend(shape, place.batch(expectedKeys, expectedValues), qkv);
        CacheKernels.append(
                FloatArray.fromArray(qkv),
                place.layerIndex(),
                place.step(),
                keys,
                values,
                place.rows(),
                shape.heads(),
                shape.kvHeads(),
                shape.headDim(),
                shape.contextLength());
        Bits.assertSame(
                "keys " + place, keys.toHeapArray(), place.stacked(expectedKeys).toHeapArray());
        Bits.assertSame(
                "values " + place,
                values.toHeapArray(),
                place.stacked(expectedValues).toHeapArray());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void scores(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        float[] qkv = data.wildFloats(place.rows() * shape.fusedWidth());
        float[] keys = data.wildFloats((int) shape.cacheLayerSize());
        float[] expected = new float[place.rows() * shape.scoresWidth()];
        Arrays.fill(expected, Float.NaN);
        FloatArray actual = FloatArray.fromArray(expected);
        boolean capped = data.coin();
        Scaling scaling = capped ? Scaling.by(0.3f).capped(7f) : Scaling.by(0.3f);
        oracle.attentionScores(shape, scaling, place.batch(keys, new float[0]), qkv, expected);
        AttentionKernels.scaledScores(
                FloatArray.fromArray(qkv),
                place.stacked(keys),
                place.layerIndex(),
                place.step(),
                actual,
                place.rows(),
                shape.heads(),
                shape.headsPerKvHead(),
                shape.headDim(),
                shape.contextLength(),
                place.window(),
                0.3f,
                capped ? 7f : 0f,
                scaling.inverseCap(),
                KernelMath.STRICT);
        Bits.assertSame(place.toString(), actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void softmax(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        float[] expected = data.floats(place.rows() * shape.scoresWidth());
        for (int i = 0; i < expected.length; i++) {
            expected[i] *= data.coin() ? 1f : 60f;
        }
        float[] scores = expected.clone();
        oracle.softmax(shape, place.batch(), expected);
        // NaN spoils a sum, but never wins a maximum.
        for (float stale : new float[] {Float.NaN, Float.MAX_VALUE}) {
            FloatArray actual = FloatArray.fromArray(scores);
            softmax(place, actual, stale);
            Bits.assertSame(place + " over " + stale, actual.toHeapArray(), expected);
        }
    }

    /** @param stale what earlier runs have left where slices' maxima and sums go */
    private static void softmax(Place place, FloatArray scores, float stale) {
        int rows = place.rows();
        int heads = place.shape().heads();
        int context = place.shape().contextLength();
        int window = place.window();
        FloatArray maxima = KernelArrays.filled(rows * heads * place.slices(), stale);
        FloatArray sums = KernelArrays.filled(maxima.getSize(), stale);
        AttentionKernels.sliceMaxima(scores, place.step(), maxima, rows, heads, context, window);
        AttentionKernels.sliceExponentials(
                scores, maxima, place.step(), sums, rows, heads, context, window, KernelMath.STRICT);
        AttentionKernels.divideByTotals(sums, place.step(), scores, rows, heads, context, window, KernelMath.STRICT);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void outputs(long seed) {
        RandomData data = new RandomData(seed);
        Place place = Place.of(data);
        AttentionShape shape = place.shape();
        float[] probabilities = data.wildFloats(place.rows() * shape.scoresWidth());
        float[] values = data.wildFloats((int) shape.cacheLayerSize());
        float[] expected = new float[place.rows() * shape.queryWidth()];
        Arrays.fill(expected, Float.NaN);
        FloatArray actual = FloatArray.fromArray(expected);
        oracle.attentionOutput(shape, place.batch(new float[0], values), probabilities, expected);
        FloatArray sums = KernelArrays.nan(place.rows() * shape.queryWidth() * place.slices());
        AttentionKernels.sliceOutputs(
                FloatArray.fromArray(probabilities),
                place.stacked(values),
                place.layerIndex(),
                place.step(),
                sums,
                place.rows(),
                shape.heads(),
                shape.headsPerKvHead(),
                shape.headDim(),
                shape.contextLength(),
                place.window());
        AttentionKernels.finishOutputs(
                sums,
                place.step(),
                actual,
                place.rows(),
                shape.heads(),
                shape.headDim(),
                shape.contextLength(),
                place.window());
        Bits.assertSame(place.toString(), actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void gatedMlp(long seed) {
        RandomData data = new RandomData(seed);
        int rows = data.between(1, 9);
        int live = rows == 1 ? 1 : data.between(1, rows);
        int width = data.coin() ? data.size(389) : data.between(500, 1200);
        float[] gateUp = data.wildFloats(rows * 2 * width);
        float[] expected = new float[rows * width];
        Arrays.fill(expected, Float.NaN);
        FloatArray actual = FloatArray.fromArray(expected);
        KernelActivation activation = KernelActivation.of(data);
        oracle.gatedMlp(activation.activation(), gateUp, live, width, expected);
        GatedMlpKernels.gatedMlp(
                FloatArray.fromArray(gateUp),
                KernelArrays.step(0, live, 0),
                actual,
                rows,
                width,
                activation.kernels(),
                KernelMath.STRICT);
        Bits.assertSame("width " + width, actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void scale(long seed) {
        RandomData data = new RandomData(seed);
        int rows = data.between(1, 9);
        int live = rows == 1 ? 1 : data.between(1, rows);
        int width = data.size(389);
        boolean capped = data.coin();
        Scaling scaling = capped ? Scaling.by(0.7f).capped(3f) : Scaling.by(0.7f);
        float[] expected = data.wildFloats(rows * width);
        FloatArray actual = FloatArray.fromArray(expected);
        oracle.scale(scaling, live * width, expected);
        ScaleKernels.scale(
                actual,
                KernelArrays.step(0, live, 0),
                rows,
                width,
                0.7f,
                capped ? 3f : 0f,
                scaling.inverseCap(),
                KernelMath.STRICT);
        Bits.assertSame(scaling.toString(), actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void selectCopiesTheRowWhoseLogitsAreWanted(long seed) {
        RandomData data = new RandomData(seed);
        int rows = data.between(1, 9);
        int width = data.size(389);
        int row = data.between(0, rows - 1);
        float[] x = data.wildFloats(rows * width);
        FloatArray actual = KernelArrays.nan(width);
        RowKernels.copyRow(FloatArray.fromArray(x), KernelArrays.step(0, rows, row), actual, 1, width);
        Bits.assertSame("row " + row, actual.toHeapArray(), Arrays.copyOfRange(x, row * width, (row + 1) * width));
    }
}
