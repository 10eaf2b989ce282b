package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Copies and clears rows of activations. */
public final class RowKernels {
    private RowKernels() {}

    /**
     * out[r][i] = x[selected row r][i], as the head's {@link Step} selects.
     *
     * <p>Shapes: x [all rows][width]; out [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous.
     */
    public static void copyRows(FloatArray x, IntArray step, FloatArray out, int rows, int width) {
        for (@Parallel int i = 0; i < rows * width; i++) {
            int row = i / width;
            if (row < step.get(Step.ROWS)) {
                out.set(i, x.get(step.get(Step.selected(row)) * width + i - row * width));
            }
        }
    }

    /**
     * x[r][i] = stack[layer][r][i].
     *
     * <p>Shapes: stack [layers][rows][width]; x [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous.
     */
    public static void takeRows(FloatArray stack, IntArray layer, IntArray step, FloatArray x, int rows, int width) {
        for (@Parallel int i = 0; i < rows * width; i++) {
            if (i / width < step.get(Step.ROWS)) {
                x.set(i, stack.get(layer.get(0) * rows * width + i));
            }
        }
    }

    /**
     * stack[layer + above][r][i] = x[r][i].
     *
     * <p>Shapes: x [rows][width]; stack [layers][rows][width].
     *
     * <p>Order: r and i parallel, i contiguous.
     */
    public static void putRows(
            FloatArray x, IntArray layer, IntArray step, FloatArray stack, int above, int rows, int width) {
        for (@Parallel int i = 0; i < rows * width; i++) {
            if (i / width < step.get(Step.ROWS)) {
                stack.set((layer.get(0) + above) * rows * width + i, x.get(i));
            }
        }
    }

    /**
     * x[r][i] = 0.
     *
     * <p>Shapes: x [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous.
     */
    public static void clearRows(IntArray step, FloatArray x, int rows, int width) {
        for (@Parallel int i = 0; i < rows * width; i++) {
            if (i / width < step.get(Step.ROWS)) {
                x.set(i, 0f);
            }
        }
    }
}
