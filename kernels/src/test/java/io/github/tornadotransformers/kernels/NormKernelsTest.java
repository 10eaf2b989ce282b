package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.emulator.WorkGroups;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

class NormKernelsTest {
    private static final int LAYERS = 3;

    private final ScalarOps oracle = new ScalarOps();

    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    /** Random rows, of which those behind {@code live} are padding. */
    private record Rows(int count, int live, int width, float[] x, float[] weight, float[] bias, int layer) {
        static Rows of(RandomData data) {
            int count = data.between(1, 9);
            int width = data.coin() ? data.size(389) : data.between(500, 1200);
            return new Rows(
                    count,
                    count == 1 ? 1 : data.between(1, count),
                    width,
                    data.wildFloats(count * width),
                    data.floats(width),
                    data.floats(width),
                    data.between(0, LAYERS - 1));
        }

        FloatArray stacked(float[] vector) {
            return KernelArrays.stacked(vector, layer, LAYERS);
        }

        FloatArray slices() {
            return KernelArrays.nan(count * Slices.count(width));
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void layerNorm(long seed) {
        Rows rows = Rows.of(new RandomData(seed));
        float[] expected = new float[rows.live() * rows.width()];
        oracle.layerNorm(rows.x(), rows.weight(), rows.bias(), 1e-5f, rows.live(), rows.width(), expected);
        FloatArray x = FloatArray.fromArray(rows.x());
        IntArray step = KernelArrays.live(rows.live());
        FloatArray sums = rows.slices();
        FloatArray deviations = rows.slices();
        FloatArray actual = KernelArrays.nan(rows.x().length);
        NormKernels.sliceSums(x, step, sums, rows.count(), rows.width());
        NormKernels.sliceDeviations(x, sums, step, deviations, rows.count(), rows.width(), KernelMath.STRICT);
        NormKernels.layerNorm(
                x,
                sums,
                deviations,
                rows.stacked(rows.weight()),
                rows.stacked(rows.bias()),
                KernelArrays.layer(rows.layer()),
                step,
                actual,
                rows.count(),
                rows.width(),
                1e-5f,
                KernelMath.STRICT);
        Bits.assertSame("width " + rows.width(), actual.toHeapArray(), expected);
        FloatArray inGroups = KernelArrays.nan(rows.x().length);
        FloatArray weight = rows.stacked(rows.weight());
        FloatArray bias = rows.stacked(rows.bias());
        IntArray layer = KernelArrays.layer(rows.layer());
        WorkGroups.run(
                rows.count(),
                NormGroupKernels.GROUP,
                context -> NormGroupKernels.layerNorm(
                        context, x, weight, bias, layer, step, inGroups, rows.width(), 1e-5f, KernelMath.STRICT));
        Bits.assertSame("in groups, width " + rows.width(), inGroups.toHeapArray(), expected);
    }

    /** Random groups of rows' columns. */
    private record Grouped(Rows rows, Groups groups) {
        FloatArray squares() {
            return KernelArrays.nan(rows.count() * groups.count() * Slices.count(groups.size()));
        }

        void sliceSquares(FloatArray x, IntArray step, FloatArray squares) {
            NormKernels.sliceSquares(
                    x,
                    step,
                    squares,
                    rows.count(),
                    groups.rowWidth(),
                    groups.firstColumn(),
                    groups.count(),
                    groups.size());
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rmsNorm(long seed) {
        RandomData data = new RandomData(seed);
        Rows rows = Rows.of(data);
        int count = data.coin() && rows.width() % 2 == 0 ? 2 : 1;
        Groups groups = new Groups(rows.width(), 0, count, rows.width() / count);
        Grouped grouped = new Grouped(rows, groups);
        boolean adds = data.coin();
        Residual residual = !adds ? Residual.NONE : data.coin() ? Residual.ADD : Residual.scaled(0.22f);
        float[] weight = Arrays.copyOf(rows.weight(), groups.size());
        float[] expected = data.floats(rows.x().length);
        FloatArray actual = FloatArray.fromArray(expected);
        FloatArray inGroups = FloatArray.fromArray(expected);
        oracle.rmsNorm(groups, rows.x(), weight, 1e-6f, residual, rows.live(), expected);
        FloatArray x = FloatArray.fromArray(rows.x());
        IntArray step = KernelArrays.live(rows.live());
        FloatArray squares = grouped.squares();
        grouped.sliceSquares(x, step, squares);
        NormKernels.rmsNorm(
                x,
                squares,
                rows.stacked(weight),
                KernelArrays.layer(rows.layer()),
                step,
                actual,
                rows.count(),
                groups.count(),
                groups.size(),
                1e-6f,
                adds ? 1 : 0,
                residual.scale(),
                KernelMath.STRICT);
        Bits.assertSame(groups.toString(), actual.toHeapArray(), expected);
        if (count == 1) {
            rmsNormInGroups(rows, x, step, adds, residual, inGroups);
            Bits.assertSame("in groups, " + groups, inGroups.toHeapArray(), expected);
        }
    }

    private static void rmsNormInGroups(
            Rows rows, FloatArray x, IntArray step, boolean adds, Residual residual, FloatArray out) {
        FloatArray weight = rows.stacked(rows.weight());
        IntArray layer = KernelArrays.layer(rows.layer());
        WorkGroups.run(
                rows.count(),
                NormGroupKernels.GROUP,
                context -> NormGroupKernels.rmsNorm(
                        context,
                        x,
                        weight,
                        layer,
                        step,
                        out,
                        rows.width(),
                        1e-6f,
                        adds ? 1 : 0,
                        residual.scale(),
                        KernelMath.STRICT));
    }

    /** More slices than are brought at a time. */
    @ParameterizedTest
    @ValueSource(ints = {4096, 4097, 8500})
    void longRowsInGroups(int width) {
        RandomData data = new RandomData(width);
        float[] x = data.floats(width);
        float[] weight = data.floats(width);
        Rows rows = new Rows(1, 1, width, x, weight, data.floats(width), 0);
        float[] expected = new float[width];
        oracle.rmsNorm(Groups.wholeRow(width), x, weight, 1e-6f, Residual.NONE, 1, expected);
        FloatArray actual = KernelArrays.nan(width);
        IntArray step = KernelArrays.live(1);
        rmsNormInGroups(rows, FloatArray.fromArray(x), step, false, Residual.NONE, actual);
        Bits.assertSame("RMS norm", actual.toHeapArray(), expected);
        oracle.layerNorm(x, weight, rows.bias(), 1e-5f, 1, width, expected);
        WorkGroups.run(
                1,
                NormGroupKernels.GROUP,
                context -> NormGroupKernels.layerNorm(
                        context,
                        FloatArray.fromArray(x),
                        FloatArray.fromArray(weight),
                        FloatArray.fromArray(rows.bias()),
                        KernelArrays.layer(0),
                        step,
                        actual,
                        width,
                        1e-5f,
                        KernelMath.STRICT));
        Bits.assertSame("layer norm", actual.toHeapArray(), expected);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void rmsNormInPlace(long seed) {
        RandomData data = new RandomData(seed);
        Rows rows = Rows.of(data);
        int size = data.between(1, rows.width());
        int count = data.between(1, rows.width() / size);
        Groups groups = new Groups(rows.width(), data.between(0, rows.width() - count * size), count, size);
        Grouped grouped = new Grouped(rows, groups);
        float[] weight = Arrays.copyOf(rows.weight(), size);
        float[] expected = rows.x().clone();
        FloatArray actual = FloatArray.fromArray(expected);
        oracle.rmsNorm(groups, expected, weight, 1e-6f, Residual.NONE, rows.live(), expected);
        IntArray step = KernelArrays.live(rows.live());
        FloatArray squares = grouped.squares();
        grouped.sliceSquares(actual, step, squares);
        NormKernels.rmsNormInPlace(
                squares,
                rows.stacked(weight),
                KernelArrays.layer(rows.layer()),
                step,
                actual,
                rows.count(),
                groups.rowWidth(),
                groups.firstColumn(),
                groups.count(),
                groups.size(),
                1e-6f,
                KernelMath.STRICT);
        Bits.assertSame(groups.toString(), actual.toHeapArray(), expected);
    }
}
