package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** What is done to logits after the head. */
public final class ScaleKernels {
    private ScaleKernels() {}

    /**
     * x[r][i] = x[r][i] * factor, and softly capped, arXiv:2408.00118: cap * tanh(x[r][i] * factor / cap), in place.
     *
     * <p>Shapes: x [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous.
     *
     * @param cap 0 for none
     * @param inverseCap 1 / cap, rounded once
     */
    public static void scale(
            FloatArray x, IntArray step, int rows, int width, float factor, float cap, float inverseCap, int math) {
        for (@Parallel int i = 0; i < rows * width; i++) {
            if (i / width < step.get(Step.ROWS)) {
                x.set(i, KernelMath.scaled(math, x.get(i), factor, cap, inverseCap));
            }
        }
    }
}
