package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.WorkGroups;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

class LinearKernelsTest {
    private static final int LAYERS = 2;

    private final ScalarOps oracle = new ScalarOps();

    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void singleRow(long seed) {
        RandomData data = new RandomData(seed);
        for (DType dtype : DType.OF_MATRICES) {
            Layer layer = Layer.of(dtype, 1, data);
            KernelMatrix w = layer.weight();
            FloatArray sums = KernelArrays.nan(Slices.count(layer.inputs()) * layer.columns());
            LinearKernels.sliceSums(
                    FloatArray.fromArray(layer.x()),
                    w.floats(),
                    w.words(),
                    w.scales(),
                    w.powers(),
                    KernelArrays.layer(layer.index()),
                    sums,
                    w.format(),
                    layer.inputs(),
                    layer.columns());
            assertFinishes(layer, 1, sums, data);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void singleRowOfElementsInGroups(long seed) {
        RandomData data = new RandomData(seed);
        for (DType dtype : List.of(DType.BF16, DType.F16, DType.INT8)) {
            Layer layer = Layer.of(dtype, 1, data);
            elements(layer, layer.weight(), data);
            if (dtype == DType.BF16) {
                elements(layer, layer.weight().asBits(), data);
            }
        }
    }

    private void elements(Layer layer, KernelMatrix w, RandomData data) {
        int inputs = layer.inputs();
        int columns = layer.columns();
        FloatArray x = FloatArray.fromArray(layer.x());
        IntArray index = KernelArrays.layer(layer.index());
        FloatArray sums = KernelArrays.nan(Slices.count(inputs) * columns);
        int size = LinearGroupKernels.GROUP;
        WorkGroups.run(
                LinearGroupKernels.items(inputs, columns) / size,
                size,
                context -> LinearGroupKernels.sliceSumsOfElements(
                        context, x, w.words(), w.scales(), w.powers(), index, sums, w.format(), inputs, columns));
        assertFinishes(layer, 1, sums, data);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void tilesOfRows(long seed) {
        RandomData data = new RandomData(seed);
        for (DType dtype : DType.OF_MATRICES) {
            Layer layer = Layer.of(dtype, data.between(2, 11), data);
            int live = data.between(1, layer.rows());
            KernelMatrix w = layer.weight();
            FloatArray sums = KernelArrays.nan(layer.rows() * Slices.count(layer.inputs()) * layer.columns());
            LinearTileKernels.tileSums(
                    FloatArray.fromArray(layer.x()),
                    w.floats(),
                    w.words(),
                    w.scales(),
                    w.powers(),
                    KernelArrays.layer(layer.index()),
                    KernelArrays.live(live),
                    sums,
                    w.format(),
                    layer.rows(),
                    layer.inputs(),
                    layer.columns());
            assertFinishes(layer, live, sums, data);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void tilesOfRowsInGroups(long seed) {
        RandomData data = new RandomData(seed);
        for (DType dtype : DType.OF_MATRICES) {
            int rows = data.coin() ? data.between(2, 40) : data.between(60, 130);
            Layer layer = data.coin() ? Layer.of(dtype, rows, data) : Layer.ofWholeWords(dtype, rows, data);
            groupTiles(layer, layer.weight(), data);
            if (dtype == DType.BF16) {
                groupTiles(layer, layer.weight().asBits(), data);
            }
        }
    }

    /** Each slice by itself, or all of them by the same group. */
    private void groupTiles(Layer layer, KernelMatrix w, RandomData data) {
        int rows = layer.rows();
        int inputs = layer.inputs();
        int columns = layer.columns();
        int live = data.between(1, rows);
        int groups =
                Math.toIntExact(LinearTileGroupKernels.items(rows, inputs, columns) / LinearTileGroupKernels.GROUP);
        int slices = LinearTileGroupKernels.parts(rows, inputs, columns);
        boolean whole = data.coin();
        int parts = whole ? 1 : slices;
        FloatArray x = FloatArray.fromArray(layer.x());
        IntArray index = KernelArrays.layer(layer.index());
        IntArray step = KernelArrays.live(live);
        FloatArray sums = KernelArrays.nan(rows * parts * columns);
        WorkGroups.run(
                whole ? groups / slices : groups,
                LinearTileGroupKernels.GROUP,
                context -> LinearTileGroupKernels.tileProducts(
                        context,
                        x,
                        w.floats(),
                        w.words(),
                        w.scales(),
                        w.powers(),
                        index,
                        step,
                        sums,
                        LinearTileGroupKernels.SUMS,
                        w.format(),
                        LinearTileGroupKernels.tileRows(rows),
                        rows,
                        parts,
                        inputs,
                        columns));
        float[] padding = Arrays.copyOfRange(sums.toHeapArray(), live * parts * columns, sums.getSize());
        Bits.assertSame(
                "padding of " + layer, padding, KernelArrays.nan(padding.length).toHeapArray());
        assertFinishes(layer, live, parts, sums, data);
    }

    @Test
    void slicesAreTakenApartWhereThereAreFewTiles() {
        assertThat(LinearTileGroupKernels.parts(128, 4096, 4096)).isEqualTo(32);
        assertThat(LinearTileGroupKernels.items(128, 4096, 4096)).isEqualTo(2L * 64 * 32 * 128);
        assertThat(LinearTileGroupKernels.parts(128, 4096, 11008)).isEqualTo(1);
        assertThat(LinearTileGroupKernels.items(128, 4096, 11008)).isEqualTo(2L * 172 * 128);
        assertThat(LinearTileGroupKernels.items(17, 100, 129)).isEqualTo(2 * 128);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void wholeSums(long seed) {
        RandomData data = new RandomData(seed);
        Layer layer = Layer.of(DType.F32, data.between(1, 11), data);
        int live = data.between(1, layer.rows());
        FloatArray actual = KernelArrays.nan(layer.rows() * layer.columns());
        LinearTileKernels.tileProducts(
                FloatArray.fromArray(layer.x()),
                layer.weight().floats(),
                KernelArrays.layer(layer.index()),
                KernelArrays.live(live),
                actual,
                layer.rows(),
                layer.inputs(),
                layer.columns());
        float[] expected = KernelArrays.nan(layer.rows() * layer.columns()).toHeapArray();
        oracle.linear(layer.x(), layer.weight().host(), null, Activation.NONE, Residual.NONE, live, expected);
        Bits.assertSame(layer.toString(), actual.toHeapArray(), expected);
    }

    /** From the slice sums on: bias, activation and residual, in rows that hold tokens, and nothing in the padding. */
    private void assertFinishes(Layer layer, int live, FloatArray sums, RandomData data) {
        assertFinishes(layer, live, Slices.count(layer.inputs()), sums, data);
    }

    private void assertFinishes(Layer layer, int live, int parts, FloatArray sums, RandomData data) {
        float[] bias = data.coin() ? data.floats(layer.columns()) : null;
        KernelActivation activation = KernelActivation.of(data);
        boolean adds = data.coin();
        Residual residual = !adds ? Residual.NONE : data.coin() ? Residual.ADD : Residual.scaled(0.22f);
        float[] expected = data.floats(layer.rows() * layer.columns());
        Arrays.fill(expected, live * layer.columns(), expected.length, Float.NaN);
        FloatArray actual = FloatArray.fromArray(expected);
        oracle.linear(layer.x(), layer.weight().host(), bias, activation.activation(), residual, live, expected);
        IntArray index = KernelArrays.layer(layer.index());
        LinearKernels.finish(
                sums,
                bias == null ? KernelArrays.nan(1) : KernelArrays.stacked(bias, layer.index(), LAYERS),
                index,
                KernelArrays.live(live),
                actual,
                layer.rows(),
                parts,
                layer.columns(),
                bias == null ? 0 : 1,
                activation.kernels(),
                adds ? 1 : 0,
                residual.scale(),
                KernelMath.STRICT);
        Bits.assertSame(layer.toString(), actual.toHeapArray(), expected);
    }

    private record Layer(int index, int rows, int inputs, int columns, float[] x, KernelMatrix weight) {
        static Layer of(DType dtype, int rows, RandomData data) {
            return of(dtype, rows, data.size(257), data);
        }

        static Layer ofWholeWords(DType dtype, int rows, RandomData data) {
            return of(dtype, rows, Integer.BYTES / dtype.bytes() * data.size(300), data);
        }

        private static Layer of(DType dtype, int rows, int columns, RandomData data) {
            int index = data.between(0, LAYERS - 1);
            int inputs = data.coin() ? data.size(389) : data.between(500, 900);
            KernelMatrix weight = KernelMatrix.of(dtype, index, LAYERS, inputs, columns, data);
            return new Layer(index, rows, inputs, columns, data.wildFloats(rows * inputs), weight);
        }

        @Override
        public String toString() {
            return weight.host().dtype() + " " + rows + "x" + inputs + "x" + columns;
        }
    }
}
