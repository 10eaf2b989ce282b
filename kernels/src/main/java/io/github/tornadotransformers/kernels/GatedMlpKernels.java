package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The activation of a gated MLP, arXiv:2002.05202. */
public final class GatedMlpKernels {
    private GatedMlpKernels() {}

    /**
     * out[r][i] = activation(gateUp[r][i]) * gateUp[r][width + i].
     *
     * <p>Shapes: gateUp [rows][2 width]; out [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous.
     *
     * @param activation one of {@link LinearKernels}
     */
    public static void gatedMlp(
            FloatArray gateUp, IntArray step, FloatArray out, int rows, int width, int activation, int math) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            int row = j / width;
            if (row < step.get(Step.ROWS)) {
                int gate = row * width + j;
                out.set(j, KernelMath.activate(math, activation, gateUp.get(gate)) * gateUp.get(gate + width));
            }
        }
    }

    /**
     * {@link #gatedMlp} of what {@link LinearKernels#finish} would store: gate and up are finished and combined in one kernel.
     *
     * <p>Shapes: sums [rows][slices][2 width]; bias [layers][2 width]; out [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous; slices left to right; then bias.
     *
     * @param biased 1 to add the bias
     * @param activation one of {@link LinearKernels}
     */
    public static void finishGateUp(
            FloatArray sums,
            FloatArray bias,
            IntArray layer,
            IntArray step,
            FloatArray out,
            int rows,
            int slices,
            int width,
            int biased,
            int activation,
            int math) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            int row = j / width;
            int i = j - row * width;
            if (row < step.get(Step.ROWS)) {
                int first = row * slices * (2 * width) + i;
                float gate = Slices.total(sums, first, 2 * width, slices);
                float up = Slices.total(sums, first + width, 2 * width, slices);
                if (biased == 1) {
                    int of = layer.get(0) * (2 * width) + i;
                    gate = gate + bias.get(of);
                    up = up + bias.get(of + width);
                }
                out.set(j, KernelMath.activate(math, activation, gate) * up);
            }
        }
    }
}
