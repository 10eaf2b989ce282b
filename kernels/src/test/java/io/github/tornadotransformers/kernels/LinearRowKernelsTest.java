package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.WorkGroups;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.StoredMatrix;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

class LinearRowKernelsTest {
    private static final int LAYERS = 2;

    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    /** Norm, product, bias, activation, and what becomes of the result, against those one by one. */
    @ParameterizedTest
    @MethodSource("seeds")
    void aRow(long seed) {
        RandomData data = new RandomData(seed);
        for (DType dtype : DType.OF_MATRICES) {
            Row row = Row.of(dtype, data);
            int most = LinearRowKernels.LEAST_GROUP * (data.coin() ? 1 : 4);
            run(row, row.weight(), most);
            if (dtype == DType.BF16) {
                run(row, row.weight().asBits(), most);
            }
        }
    }

    private record Row(int inputs, int columns, RowLayer layer, KernelMatrix weight) {
        static Row of(DType dtype, RandomData data) {
            int index = data.between(0, LAYERS - 1);
            int inputs = data.coin() ? data.size(389) : data.coin() ? 128 * data.between(1, 6) : data.between(500, 900);
            int ending = data.between(RowSteps.STORES, RowSteps.GATES);
            int words = data.coin() ? data.size(60) : data.between(100, 300);
            int columns = Integer.BYTES / dtype.bytes() * words * (ending == RowSteps.GATES ? 2 : 1);
            KernelMatrix weight = KernelMatrix.of(dtype, index, LAYERS, inputs, columns, data);
            RowLayer layer = RowLayer.random(index, LAYERS, inputs, columns, ending, data);
            return new Row(inputs, columns, layer, weight);
        }
    }

    private static void run(Row row, KernelMatrix w, int most) {
        FloatArray floats = switch (w.format()) {
            case WeightFormat.F32 -> w.floats();
            case WeightFormat.INT8 -> w.scales();
            default -> w.powers();
        };
        int columns = row.columns();
        StoredArrays.Run all = new StoredArrays.Run(0, columns, w.format(), w.powers(), new IntArray(1));
        FloatArray actual = FloatArray.fromArray(row.layer().before());
        run(row.layer(), floats, w.words(), all, columns, most, actual);
        String name = w.format() + ", " + columns + " columns: " + row.layer();
        Bits.assertSame(name, actual.toHeapArray(), row.layer().expected(w.host()));
    }

    private static void run(
            RowLayer work,
            FloatArray floats,
            IntArray words,
            StoredArrays.Run run,
            int width,
            int most,
            FloatArray actual) {
        int inputs = work.x().length;
        int columns = run.columns();
        int group = LinearRowKernels.group(run.format(), inputs, columns, work.ending(), most);
        FloatArray x = FloatArray.fromArray(work.x());
        FloatArray ofNorm = work.weightOfNorm();
        FloatArray biasOfNorm = work.biasOfNorm();
        FloatArray biases = work.biases();
        IntArray layer = KernelArrays.layer(work.index());
        WorkGroups.run(
                Math.toIntExact(LinearRowKernels.items(run.format(), columns, work.ending(), group) / group),
                group,
                context -> LinearRowKernels.product(
                        context,
                        x,
                        ofNorm,
                        biasOfNorm,
                        floats,
                        words,
                        run.places(),
                        biases,
                        layer,
                        actual,
                        run.format(),
                        inputs,
                        run.firstColumn(),
                        columns,
                        width,
                        group,
                        RowLayer.EPSILON,
                        work.steps(),
                        work.scale(),
                        KernelMath.STRICT));
    }

    /** Of any formats side by side, and of other layers: each format is a task of its own. */
    @ParameterizedTest
    @MethodSource("seeds")
    void aRowOfBlocks(long seed) {
        RandomData data = new RandomData(seed);
        StoredMatrix matrix = StoredMatrix.ofBlocks(LAYERS, 4, data);
        run(matrix, data.between(0, LAYERS - 1), data);
    }

    @ParameterizedTest
    @EnumSource(BlockFormat.class)
    void aRowOfBlocksOfAFormat(BlockFormat format) {
        RandomData data = new RandomData(format.ordinal());
        for (int round = 0; round < 12; round++) {
            run(StoredMatrix.of(format, data), 0, data);
        }
    }

    private static void run(StoredMatrix matrix, int index, RandomData data) {
        StoredArrays weight = StoredArrays.of(matrix, index);
        int width = matrix.weight().columns();
        boolean gates = weight.runs().size() == 1 && width % 2 == 0;
        int ending = data.between(RowSteps.STORES, gates ? RowSteps.GATES : RowSteps.ADDS);
        int layers = matrix.weight().layers();
        RowLayer work = RowLayer.random(index, layers, matrix.weight().rows(), width, ending, data);
        int most = LinearRowKernels.LEAST_GROUP * (data.coin() ? 1 : 4);
        FloatArray actual = FloatArray.fromArray(work.before());
        for (StoredArrays.Run run : weight.runs()) {
            run(work, weight.floats(), weight.words(), run, width, most, actual);
        }
        Bits.assertSame(matrix.runs(index) + ": " + work, actual.toHeapArray(), work.expected(weight.host()));
    }

    /** 4096 inputs are 32 slices, 11,008 are 86: three rounds of 29. */
    @Test
    void aGroupHasAllSlicesOfItsColumns() {
        assertThat(LinearRowKernels.group(WeightFormat.BF16, 4096, 4096, RowSteps.STORES, 1024))
                .isEqualTo(16 * 32);
        assertThat(LinearRowKernels.items(WeightFormat.BF16, 4096, RowSteps.STORES, 512))
                .isEqualTo(128 * 512);
        assertThat(LinearRowKernels.group(WeightFormat.BF16, 11_008, 4096, RowSteps.STORES, 1024))
                .isEqualTo(16 * 29);
        assertThat(LinearRowKernels.group(WeightFormat.BF16, 4096, 4096, RowSteps.STORES, 128))
                .isEqualTo(16 * 8);
        assertThat(LinearRowKernels.group(WeightFormat.F32, 768, 768, RowSteps.STORES, 1024))
                .isEqualTo(8 * 6);
        assertThat(LinearRowKernels.items(WeightFormat.F32, 768, RowSteps.STORES, 48))
                .isEqualTo(96 * 48);
        assertThat(LinearRowKernels.group(WeightFormat.INT8, 4096, 12_288, RowSteps.STORES, 1024))
                .isEqualTo(16 * 16);
    }

    /** An item has a column of blocks. 2048 inputs are 16 slices, 5632 are 44: two rounds of 22. */
    @Test
    void aGroupHasSixteenColumnsOfBlocksOrEight() {
        int q4k = StoredFormat.ofBlocks(4, 32, 256, 0, true);
        assertThat(LinearRowKernels.group(q4k, 2048, 2048, RowSteps.ADDS, 1024)).isEqualTo(16 * 16);
        assertThat(LinearRowKernels.items(q4k, 2048, RowSteps.ADDS, 256)).isEqualTo(128 * 256);
        assertThat(LinearRowKernels.group(q4k, 2048, 256, RowSteps.STORES, 1024))
                .isEqualTo(16 * 8);
        assertThat(LinearRowKernels.items(q4k, 256, RowSteps.STORES, 128)).isEqualTo(32 * 128);
        assertThat(LinearRowKernels.group(q4k, 5632, 2048, RowSteps.ADDS, 1024)).isEqualTo(22 * 16);
        assertThat(LinearRowKernels.lanes(q4k, 2048, RowSteps.ADDS, 22 * 16)).isEqualTo(22);
        assertThat(LinearRowKernels.items(q4k, 33, RowSteps.STORES, 8)).isEqualTo(5 * 8);
    }

    /** Half of them of either half, as memory is read in pieces of eight. */
    @Test
    void aGroupHasSixteenWordsWhereHalvesAreMultiplied() {
        assertThat(LinearRowKernels.group(WeightFormat.F32, 256, 256, RowSteps.STORES, 1024))
                .isEqualTo(8 * 2);
        assertThat(LinearRowKernels.group(WeightFormat.F32, 256, 256, RowSteps.GATES, 1024))
                .isEqualTo(16 * 2);
    }

    @Test
    void rowsOrTheirHalvesAreWholeWords() {
        assertThat(LinearRowKernels.takes(WeightFormat.F32, 3, RowSteps.STORES)).isTrue();
        assertThat(LinearRowKernels.takes(WeightFormat.BF16, 3, RowSteps.STORES))
                .isFalse();
        assertThat(LinearRowKernels.takes(WeightFormat.BF16_BITS, 6, RowSteps.ADDS))
                .isTrue();
        assertThat(LinearRowKernels.takes(WeightFormat.BF16_BITS, 6, RowSteps.GATES))
                .isFalse();
        assertThat(LinearRowKernels.takes(WeightFormat.INT8, 12, RowSteps.STORES))
                .isTrue();
        assertThat(LinearRowKernels.takes(WeightFormat.INT8, 12, RowSteps.GATES))
                .isFalse();
    }
}
