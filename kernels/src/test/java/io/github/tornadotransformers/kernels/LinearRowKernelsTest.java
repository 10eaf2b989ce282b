package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.WorkGroups;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

class LinearRowKernelsTest {
    private static final int LAYERS = 2;
    private static final float EPSILON = 1e-5f;

    private final ScalarOps oracle = new ScalarOps();

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
            run(row, row.weight(), new RandomData(seed));
            if (dtype == DType.BF16) {
                run(row, row.weight().asBits(), new RandomData(seed));
            }
        }
    }

    private record Row(int index, int inputs, int columns, int ending, float[] x, KernelMatrix weight) {
        static Row of(DType dtype, RandomData data) {
            int index = data.between(0, LAYERS - 1);
            int inputs = data.coin() ? data.size(389) : data.coin() ? 128 * data.between(1, 6) : data.between(500, 900);
            int ending = data.between(LinearRowKernels.STORES, LinearRowKernels.GATES);
            int words = data.coin() ? data.size(60) : data.between(100, 300);
            int columns = Integer.BYTES / dtype.bytes() * words * (ending == LinearRowKernels.GATES ? 2 : 1);
            KernelMatrix weight = KernelMatrix.of(dtype, index, LAYERS, inputs, columns, data);
            return new Row(index, inputs, columns, ending, data.wildFloats(inputs), weight);
        }
    }

    private void run(Row row, KernelMatrix w, RandomData data) {
        int inputs = row.inputs();
        int columns = row.columns();
        int norm = data.between(LinearRowKernels.NO_NORM, LinearRowKernels.RMS_NORM);
        float[] normWeight = data.floats(inputs);
        float[] normBias = data.floats(inputs);
        float[] bias = data.coin() ? data.floats(columns) : null;
        KernelActivation activation = KernelActivation.of(data);
        float scale = data.coin() ? 1f : 0.22f;
        boolean gates = row.ending() == LinearRowKernels.GATES;
        float[] expected = data.floats(gates ? columns / 2 : columns);
        FloatArray actual = FloatArray.fromArray(expected);
        int least = LinearRowKernels.LEAST_GROUP;
        int group = LinearRowKernels.group(w.format(), inputs, columns, data.coin() ? least : 4 * least);
        boolean isF32 = w.format() == WeightFormat.F32;
        FloatArray floats = isF32 ? w.floats() : w.format() == WeightFormat.INT8 ? w.scales() : w.powers();
        FloatArray x = FloatArray.fromArray(row.x());
        FloatArray ofNorm = KernelArrays.stacked(normWeight, row.index(), LAYERS);
        FloatArray biasOfNorm = KernelArrays.stacked(normBias, row.index(), LAYERS);
        FloatArray added = bias == null ? KernelArrays.nan(1) : KernelArrays.stacked(bias, row.index(), LAYERS);
        IntArray layer = KernelArrays.layer(row.index());
        int groups = Math.toIntExact(LinearRowKernels.items(w.format(), columns, group) / group);
        WorkGroups.run(
                groups,
                group,
                context -> LinearRowKernels.product(
                        context,
                        x,
                        ofNorm,
                        biasOfNorm,
                        floats,
                        w.words(),
                        added,
                        layer,
                        actual,
                        w.format(),
                        inputs,
                        columns,
                        group,
                        norm,
                        EPSILON,
                        bias == null ? 0 : 1,
                        activation.kernels(),
                        row.ending(),
                        scale,
                        KernelMath.STRICT));
        float[] normed = normed(row, norm, normWeight, normBias);
        if (gates) {
            float[] gateUp = new float[columns];
            oracle.linear(normed, w.host(), bias, Activation.NONE, Residual.NONE, 1, gateUp);
            oracle.gatedMlp(activation.activation(), gateUp, 1, columns / 2, expected);
        } else {
            boolean adds = row.ending() == LinearRowKernels.ADDS;
            Residual residual = !adds ? Residual.NONE : scale == 1f ? Residual.ADD : Residual.scaled(scale);
            oracle.linear(normed, w.host(), bias, activation.activation(), residual, 1, expected);
        }
        String name = w.format() + ": " + inputs + "x" + columns + ", group " + group + ", norm " + norm + ", ending "
                + row.ending();
        Bits.assertSame(name, actual.toHeapArray(), expected);
    }

    private float[] normed(Row row, int norm, float[] weight, float[] bias) {
        float[] normed = row.x().clone();
        if (norm == LinearRowKernels.LAYER_NORM) {
            oracle.layerNorm(row.x(), weight, bias, EPSILON, 1, row.inputs(), normed);
        }
        if (norm == LinearRowKernels.RMS_NORM) {
            oracle.rmsNorm(Groups.wholeRow(row.inputs()), row.x(), weight, EPSILON, Residual.NONE, 1, normed);
        }
        return normed;
    }

    /** 4096 inputs are 32 slices, 11,008 are 86: three rounds of 29. */
    @Test
    void aGroupHasAllSlicesOfItsColumns() {
        assertThat(LinearRowKernels.group(WeightFormat.BF16, 4096, 4096, 1024)).isEqualTo(16 * 32);
        assertThat(LinearRowKernels.items(WeightFormat.BF16, 4096, 512)).isEqualTo(128 * 512);
        assertThat(LinearRowKernels.group(WeightFormat.BF16, 11_008, 4096, 1024))
                .isEqualTo(16 * 29);
        assertThat(LinearRowKernels.group(WeightFormat.BF16, 4096, 4096, 128)).isEqualTo(16 * 8);
        assertThat(LinearRowKernels.group(WeightFormat.F32, 768, 768, 1024)).isEqualTo(8 * 6);
        assertThat(LinearRowKernels.items(WeightFormat.F32, 768, 48)).isEqualTo(96 * 48);
        assertThat(LinearRowKernels.group(WeightFormat.INT8, 4096, 12_288, 1024))
                .isEqualTo(16 * 16);
    }

    @Test
    void rowsOrTheirHalvesAreWholeWords() {
        assertThat(LinearRowKernels.takes(WeightFormat.F32, 3, LinearRowKernels.STORES))
                .isTrue();
        assertThat(LinearRowKernels.takes(WeightFormat.BF16, 3, LinearRowKernels.STORES))
                .isFalse();
        assertThat(LinearRowKernels.takes(WeightFormat.BF16_BITS, 6, LinearRowKernels.ADDS))
                .isTrue();
        assertThat(LinearRowKernels.takes(WeightFormat.BF16_BITS, 6, LinearRowKernels.GATES))
                .isFalse();
        assertThat(LinearRowKernels.takes(WeightFormat.INT8, 12, LinearRowKernels.STORES))
                .isTrue();
        assertThat(LinearRowKernels.takes(WeightFormat.INT8, 12, LinearRowKernels.GATES))
                .isFalse();
    }
}
