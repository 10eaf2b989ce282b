package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.testsupport.RandomData;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * All of a single row's linear layer but the matrix, at random, and what the oracle makes of it Op by Op.
 *
 * @param ending of {@link RowSteps}
 * @param bias null where there is none
 * @param before what is in the output beforehand
 */
record RowLayer(
        int index,
        int layers,
        int ending,
        float[] x,
        int norm,
        float[] normWeight,
        float[] normBias,
        float[] bias,
        KernelActivation activation,
        float scale,
        float[] before) {
    static final float EPSILON = 1e-5f;

    private static final ScalarOps ORACLE = new ScalarOps();

    static RowLayer random(int index, int layers, int inputs, int columns, int ending, RandomData data) {
        return new RowLayer(
                index,
                layers,
                ending,
                data.wildFloats(inputs),
                data.between(RowSteps.NO_NORM, RowSteps.RMS_NORM),
                data.floats(inputs),
                data.floats(inputs),
                data.coin() ? data.floats(columns) : null,
                KernelActivation.of(data),
                data.coin() ? 1f : 0.22f,
                data.floats(ending == RowSteps.GATES ? columns / 2 : columns));
    }

    int steps() {
        return RowSteps.of(norm, bias != null, activation.kernels(), ending);
    }

    FloatArray weightOfNorm() {
        return KernelArrays.stacked(normWeight, index, layers);
    }

    FloatArray biasOfNorm() {
        return KernelArrays.stacked(normBias, index, layers);
    }

    FloatArray biases() {
        return bias == null ? KernelArrays.nan(1) : KernelArrays.stacked(bias, index, layers);
    }

    float[] expected(HostMatrix matrix) {
        float[] out = before.clone();
        if (ending == RowSteps.GATES) {
            float[] gateUp = new float[2 * out.length];
            ORACLE.linear(normed(), matrix, bias, Activation.NONE, Residual.NONE, 1, gateUp);
            ORACLE.gatedMlp(activation.activation(), gateUp, 1, out.length, out);
        } else {
            boolean adds = ending == RowSteps.ADDS;
            Residual residual = !adds ? Residual.NONE : scale == 1f ? Residual.ADD : Residual.scaled(scale);
            ORACLE.linear(normed(), matrix, bias, activation.activation(), residual, 1, out);
        }
        return out;
    }

    private float[] normed() {
        float[] normed = x.clone();
        if (norm == RowSteps.LAYER_NORM) {
            ORACLE.layerNorm(x, normWeight, normBias, EPSILON, 1, x.length, normed);
        }
        if (norm == RowSteps.RMS_NORM) {
            ORACLE.rmsNorm(Groups.wholeRow(x.length), x, normWeight, EPSILON, Residual.NONE, 1, normed);
        }
        return normed;
    }

    @Override
    public String toString() {
        return x.length + " inputs, norm " + norm + ", ending " + ending + (bias == null ? "" : ", bias");
    }
}
