package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.kernels.RowSteps;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * What a linear layer of a single row multiplies.
 *
 * @param norm of {@link RowSteps}, which x goes through before
 * @param weight of the norm, and {@code bias}; what no kernel reads where it has none
 */
record RowInput(
        Argument<FloatArray> x, int norm, Argument<FloatArray> weight, Argument<FloatArray> bias, float epsilon) {
    /** As it is. */
    static RowInput plain(Argument<FloatArray> x) {
        return new RowInput(x, RowSteps.NO_NORM, DeviceModel.noFloats(), DeviceModel.noFloats(), 0f);
    }

    static RowInput of(Op.LayerNorm norm, TaskBuilder in) {
        return new RowInput(
                in.activation(norm.input()),
                RowSteps.LAYER_NORM,
                in.vector(norm.weight()),
                in.vector(norm.bias()),
                norm.epsilon());
    }

    /** @param norm of whole rows, which adds to nothing */
    static RowInput of(Op.RmsNorm norm, TaskBuilder in) {
        return new RowInput(
                in.activation(norm.input()),
                RowSteps.RMS_NORM,
                in.vector(norm.weight()),
                DeviceModel.noFloats(),
                norm.epsilon());
    }
}
