package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Copies rows of activations. */
public final class RowKernels {
    private RowKernels() {}

    /**
     * out[i] = x[step[LOGIT_ROW]][i].
     *
     * <p>Shapes: x [rows][width]; out [width].
     *
     * <p>Order: i parallel and contiguous.
     *
     * @param rows 1: how many are copied
     */
    public static void copyRow(FloatArray x, IntArray step, FloatArray out, int rows, int width) {
        for (@Parallel int i = 0; i < rows * width; i++) {
            out.set(i, x.get(step.get(Step.LOGIT_ROW) * width + i));
        }
    }
}
