package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.host.BatchRows;
import io.github.tornadotransformers.host.KvLayer;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** A kernel that does several Ops' work has the bits of the oracle's Ops, one after the other. */
class FusedKernelsTest {
    private static final int LAYERS = 2;

    private final ScalarOps oracle = new ScalarOps();

    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    /** A projection of random rows, of which those behind {@code live} are padding, down to its slice sums. */
    private record Projection(int rows, int live, int layer, KernelMatrix weight, float[] x, float[] bias) {
        static Projection of(RandomData data, int columns) {
            int rows = data.between(1, 9);
            int layer = data.between(0, LAYERS - 1);
            int inputs = data.size(389);
            return new Projection(
                    rows,
                    rows == 1 ? 1 : data.between(1, rows),
                    layer,
                    KernelMatrix.of(DType.F32, layer, LAYERS, inputs, columns, data),
                    data.wildFloats(rows * inputs),
                    data.coin() ? data.floats(columns) : null);
        }

        int slices() {
            return Slices.count(weight.host().rows());
        }

        IntArray layerIndex() {
            return KernelArrays.layer(layer);
        }

        FloatArray sums() {
            int inputs = weight.host().rows();
            int columns = weight.host().columns();
            FloatArray sums = KernelArrays.nan(rows * slices() * columns);
            LinearTileKernels.tileSums(
                    FloatArray.fromArray(x),
                    weight.floats(),
                    weight.words(),
                    weight.scales(),
                    weight.powers(),
                    layerIndex(),
                    KernelArrays.live(live),
                    sums,
                    weight.format(),
                    rows,
                    inputs,
                    columns);
            return sums;
        }

        FloatArray stackedBias() {
            return bias == null ? KernelArrays.nan(1) : KernelArrays.stacked(bias, layer, LAYERS);
        }

        int biased() {
            return bias == null ? 0 : 1;
        }

        float[] expected(ScalarOps oracle) {
            float[] out = new float[live * weight.host().columns()];
            oracle.linear(x, weight.host(), bias, Activation.NONE, Residual.NONE, live, out);
            return out;
        }
    }

    private static AttentionShape shape(RandomData data, int rows, boolean evenHeads) {
        int kvHeads = data.between(1, 3);
        int headDim = evenHeads ? 2 * data.between(1, 20) : data.between(1, 40);
        return new AttentionShape(kvHeads * data.between(1, 3), kvHeads, headDim, data.between(rows, rows + 200));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void projectionAndCache(long seed) {
        RandomData data = new RandomData(seed);
        AttentionShape shape = shape(data, 9, false);
        Projection projection = Projection.of(data, shape.fusedWidth());
        int position = data.between(0, shape.contextLength() - projection.live());
        float[] expected = projection.expected(oracle);
        Caches caches = Caches.of(shape, data);
        FloatArray qkv = KernelArrays.nan(projection.rows() * shape.fusedWidth());
        KvPool keys = caches.stackedKeys(projection.layer());
        KvPool values = caches.stackedValues(projection.layer());
        QkvKernels.finish(
                projection.sums(),
                projection.stackedBias(),
                projection.layerIndex(),
                KernelArrays.step(position, projection.rows(), projection.live(), shape.contextLength()),
                qkv,
                keys.floats(),
                values.floats(),
                keys.shorts(),
                values.shorts(),
                keys.bounds(),
                projection.rows(),
                projection.slices(),
                shape.heads(),
                shape.kvHeads(),
                shape.headDim(),
                Slices.count(shape.contextLength()),
                keys.format(),
                projection.biased());
        assertStored(projection, shape, position, expected, caches, qkv, keys, values);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void projectionRotationAndCache(long seed) {
        RandomData data = new RandomData(seed);
        AttentionShape shape = shape(data, 9, true);
        Projection projection = Projection.of(data, shape.fusedWidth());
        int position = data.between(0, shape.contextLength() - projection.live());
        double[] frequencies = IntStream.range(0, shape.headDim() / 2)
                .mapToDouble(i -> Math.pow(10000, -2.0 * i / shape.headDim()))
                .toArray();
        RotaryTable table = RotaryTable.of(frequencies, 1, shape.contextLength());
        float[] expected = projection.expected(oracle);
        oracle.rotary(shape, table, BatchRows.of(position, projection.live()), expected);
        Caches caches = Caches.of(shape, data);
        FloatArray qkv = KernelArrays.nan(projection.rows() * shape.fusedWidth());
        KvPool keys = caches.stackedKeys(projection.layer());
        KvPool values = caches.stackedValues(projection.layer());
        QkvKernels.finishRotated(
                projection.sums(),
                projection.stackedBias(),
                KernelArrays.angles(table),
                projection.layerIndex(),
                KernelArrays.step(position, projection.rows(), projection.live(), shape.contextLength()),
                qkv,
                keys.floats(),
                values.floats(),
                keys.shorts(),
                values.shorts(),
                keys.bounds(),
                projection.rows(),
                projection.slices(),
                shape.heads(),
                shape.kvHeads(),
                shape.headDim(),
                table.positions(),
                Slices.count(shape.contextLength()),
                keys.format(),
                projection.biased());
        assertStored(projection, shape, position, expected, caches, qkv, keys, values);
    }

    /** One layer's keys and values, before and after. */
    private record Caches(KvType type, float[] keys, float[] values) {
        static Caches of(AttentionShape shape, RandomData data) {
            KvType type = KvType.values()[data.between(0, KvType.values().length - 1)];
            return new Caches(
                    type, data.floats((int) shape.cacheLayerSize()), data.floats((int) shape.cacheLayerSize()));
        }

        KvPool stackedKeys(int layer) {
            return KvPool.of(type, KernelArrays.stacked(keys, layer, LAYERS));
        }

        KvPool stackedValues(int layer) {
            return KvPool.of(type, KernelArrays.stacked(values, layer, LAYERS));
        }
    }

    private void assertStored(
            Projection projection,
            AttentionShape shape,
            int position,
            float[] expected,
            Caches caches,
            FloatArray qkv,
            KvPool keys,
            KvPool values) {
        KvLayer cache = KvLayer.contiguous(shape, caches.keys(), caches.values());
        oracle.cacheAppend(shape, BatchRows.of(position, projection.live(), cache), expected);
        float[] queries = new float[projection.rows() * shape.fusedWidth()];
        Arrays.fill(queries, Float.NaN);
        for (int row = 0; row < projection.live(); row++) {
            System.arraycopy(expected, row * shape.fusedWidth(), queries, row * shape.fusedWidth(), shape.queryWidth());
        }
        int layer = projection.layer();
        Bits.assertSame("queries", qkv.toHeapArray(), queries);
        Bits.assertSame("keys", keys.toHeapArray(), caches.stackedKeys(layer).toHeapArray());
        Bits.assertSame(
                "values", values.toHeapArray(), caches.stackedValues(layer).toHeapArray());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void gateUpAndGatedMlp(long seed) {
        RandomData data = new RandomData(seed);
        int width = data.size(257);
        Projection projection = Projection.of(data, 2 * width);
        float[] expected = new float[projection.rows() * width];
        Arrays.fill(expected, Float.NaN);
        KernelActivation activation = KernelActivation.of(data);
        oracle.gatedMlp(activation.activation(), projection.expected(oracle), projection.live(), width, expected);
        FloatArray actual = KernelArrays.nan(projection.rows() * width);
        GatedMlpKernels.finishGateUp(
                projection.sums(),
                projection.stackedBias(),
                projection.layerIndex(),
                KernelArrays.live(projection.live()),
                actual,
                projection.rows(),
                projection.slices(),
                width,
                projection.biased(),
                activation.kernels(),
                KernelMath.STRICT);
        Bits.assertSame("width " + width, actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void softmaxOfARow(long seed) {
        RandomData data = new RandomData(seed);
        AttentionShape whole = shape(data, 1, false);
        AttentionShape shape = data.coin() ? whole : whole.withWindow(data.between(1, whole.contextLength()));
        int window = Math.min(shape.window(), shape.contextLength());
        int position = data.between(0, shape.contextLength() - 1);
        int heads = shape.heads();
        int context = shape.contextLength();
        float[] scores = data.floats(shape.scoresWidth());
        FloatArray raw = FloatArray.fromArray(scores);
        float[] expected = scores.clone();
        oracle.softmax(shape, BatchRows.of(position, 1), expected);
        FloatArray actual = FloatArray.fromArray(scores);
        FloatArray sums = KernelArrays.nan(heads * Slices.count(context));
        IntArray step = KernelArrays.step(position, 1, 1, context);
        AttentionKernels.rowExponentials(raw, step, actual, sums, heads, context, window, KernelMath.STRICT);
        AttentionKernels.divideByTotals(sums, step, actual, 1, heads, context, window, KernelMath.STRICT);
        Bits.assertSame(shape + " at " + position, actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void normsOfARow(long seed) {
        RandomData data = new RandomData(seed);
        int width = data.coin() ? data.size(389) : data.between(500, 1200);
        float[] x = data.wildFloats(width);
        float[] weight = data.floats(width);
        float[] bias = data.floats(width);
        float[] expected = new float[width];
        FloatArray actual = KernelArrays.nan(width);
        FloatArray stackedWeight = KernelArrays.stacked(weight, 1, LAYERS);
        oracle.layerNorm(x, weight, bias, 1e-5f, 1, width, expected);
        NormKernels.layerNormRow(
                FloatArray.fromArray(x),
                stackedWeight,
                KernelArrays.stacked(bias, 1, LAYERS),
                KernelArrays.layer(1),
                actual,
                1,
                width,
                1e-5f,
                KernelMath.STRICT);
        Bits.assertSame("layer norm of " + width, actual.toHeapArray(), expected);
        Residual residual = data.coin() ? Residual.NONE : Residual.scaled(0.22f);
        oracle.rmsNorm(Groups.wholeRow(width), x, weight, 1e-6f, residual, 1, expected);
        NormKernels.rmsNormRow(
                FloatArray.fromArray(x),
                stackedWeight,
                KernelArrays.layer(1),
                actual,
                1,
                width,
                1e-6f,
                residual.adds() ? 1 : 0,
                residual.scale(),
                KernelMath.STRICT);
        Bits.assertSame("RMS norm of " + width, actual.toHeapArray(), expected);
    }
}
