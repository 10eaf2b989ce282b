package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.emulator.WorkGroups;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.StoredMatrix;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Matrices of any formats side by side, in layers of which each has others: the kernels give the oracle's bits. */
class StoredKernelsTest {
    private static final int LAYERS = 3;
    private static final int PARTS = 4;

    private final ScalarOps oracle = new ScalarOps();

    static LongStream seeds() {
        return LongStream.range(0, 60);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void linearOfAnyFormats(long seed) {
        RandomData data = new RandomData(seed);
        StoredMatrix matrix = StoredMatrix.random(LAYERS, PARTS, data);
        check(
                matrix,
                data.between(0, LAYERS - 1),
                data.coin() ? 1 : data.coin() ? data.between(2, 19) : data.between(30, 70),
                data);
    }

    @ParameterizedTest
    @EnumSource(BlockFormat.class)
    void linearOfAFormat(BlockFormat format) {
        RandomData data = new RandomData(format.ordinal());
        for (int rows : new int[] {1, 1, 1, 1, 2, 7, 8, 9, 17, 33, 65, 66}) {
            check(StoredMatrix.of(format, data), 0, rows, data);
        }
    }

    private void check(StoredMatrix matrix, int layer, int rows, RandomData data) {
        StoredArrays weight = StoredArrays.of(matrix, layer);
        int inputs = matrix.weight().rows();
        int width = matrix.weight().columns();
        int live = rows == 1 ? 1 : data.between(1, rows);
        float[] x = data.wildFloats(rows * inputs);
        float[] expected = KernelArrays.nan(rows * width).toHeapArray();
        oracle.linear(x, weight.host(), null, Activation.NONE, Residual.NONE, live, expected);
        IntArray index = KernelArrays.layer(layer);
        boolean inGroups = data.coin();
        boolean allOfBlocks = weight.runs().stream().allMatch(run -> StoredFormat.isBlocks(run.format()));
        int parts = inGroups && rows > 1 && allOfBlocks && data.coin() ? 1 : Slices.count(inputs);
        FloatArray sums = KernelArrays.nan(rows * parts * width);
        for (StoredArrays.Run run : weight.runs()) {
            if (inGroups && rows > 1 && StoredFormat.isBlocks(run.format())) {
                sumTilesInGroups(weight, run, FloatArray.fromArray(x), index, sums, rows, live, parts, inputs, width);
            } else if (rows == 1) {
                StoredKernels.sliceSums(
                        FloatArray.fromArray(x),
                        weight.floats(),
                        weight.words(),
                        run.powers(),
                        run.places(),
                        index,
                        sums,
                        run.format(),
                        inputs,
                        run.firstColumn(),
                        run.columns(),
                        width);
            } else {
                StoredKernels.tileSums(
                        FloatArray.fromArray(x),
                        weight.floats(),
                        weight.words(),
                        run.powers(),
                        run.places(),
                        index,
                        KernelArrays.live(live),
                        sums,
                        run.format(),
                        rows,
                        inputs,
                        run.firstColumn(),
                        run.columns(),
                        width);
            }
        }
        float[] padding = Arrays.copyOfRange(sums.toHeapArray(), live * parts * width, sums.getSize());
        Bits.assertSame("padding", padding, KernelArrays.nan(padding.length).toHeapArray());
        FloatArray actual = KernelArrays.nan(rows * width);
        LinearKernels.finish(
                sums,
                KernelArrays.nan(1),
                index,
                KernelArrays.live(live),
                actual,
                rows,
                parts,
                width,
                0,
                LinearKernels.NO_ACTIVATION,
                0,
                1f,
                KernelMath.STRICT);
        Bits.assertSame(matrix.runs(layer) + ", " + rows + " rows of " + inputs, actual.toHeapArray(), expected);
    }

    /** Each slice by itself, or all of them by the same group. */
    private static void sumTilesInGroups(
            StoredArrays weight,
            StoredArrays.Run run,
            FloatArray x,
            IntArray layer,
            FloatArray sums,
            int rows,
            int live,
            int parts,
            int inputs,
            int width) {
        int size = StoredTileGroupKernels.GROUP;
        WorkGroups.run(
                Math.toIntExact(StoredTileGroupKernels.items(rows, parts, run.columns()) / size),
                size,
                context -> StoredTileGroupKernels.tileSums(
                        context,
                        x,
                        weight.floats(),
                        weight.words(),
                        run.places(),
                        layer,
                        KernelArrays.live(live),
                        sums,
                        run.format(),
                        LinearTileGroupKernels.tileRows(rows),
                        rows,
                        parts,
                        inputs,
                        run.firstColumn(),
                        run.columns(),
                        width));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void embeddingOfAFormat(long seed) {
        RandomData data = new RandomData(seed);
        StoredMatrix matrix = StoredMatrix.random(1, 1, data);
        StoredArrays table = StoredArrays.of(matrix, 0);
        StoredArrays.Run run = table.runs().getFirst();
        int rows = data.between(1, 9);
        int live = data.between(1, rows);
        int width = matrix.weight().rows();
        int vocabSize = matrix.weight().columns();
        int[] tokens = data.ints(rows, vocabSize);
        float factor = data.coin() ? 1f : 27.5f;
        float[] expected = new float[rows * width];
        Arrays.fill(expected, Float.NaN);
        oracle.tokenEmbedding(table.host(), factor, tokens, live, expected);
        FloatArray actual = KernelArrays.nan(rows * width);
        StoredKernels.lookUpTokens(
                IntArray.fromArray(tokens),
                table.floats(),
                table.words(),
                run.powers(),
                run.places(),
                KernelArrays.live(live),
                actual,
                run.format(),
                rows,
                width,
                vocabSize,
                factor);
        Bits.assertSame(matrix.runs(0).toString(), actual.toHeapArray(), expected);
    }
}
