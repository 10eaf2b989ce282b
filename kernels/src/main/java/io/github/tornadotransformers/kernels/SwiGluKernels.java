package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The gated activation of Llama's MLP, arXiv:2002.05202. */
public final class SwiGluKernels {
    private SwiGluKernels() {}

    /**
     * out[r][i] = silu(gateUp[r][i]) * gateUp[r][width + i].
     *
     * <p>Shapes: gateUp [rows][2 width]; out [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous.
     */
    public static void swiGlu(FloatArray gateUp, IntArray step, FloatArray out, int rows, int width, int math) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            int row = j / width;
            if (row < step.get(Step.ROWS)) {
                int gate = row * width + j;
                out.set(j, KernelMath.silu(math, gateUp.get(gate)) * gateUp.get(gate + width));
            }
        }
    }
}
