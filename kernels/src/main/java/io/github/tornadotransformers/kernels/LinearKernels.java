package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * out[r][c] = activation(sum_k x[r][k] * w[layer][k][c] + bias[layer][c]), or out += that.
 *
 * <p>A first kernel gives each slice of k to a work item: {@link #sliceSums} for a single row, {@link LinearTileKernels} for
 * several; {@link #finish} adds the slices up. Weights are {@code [layers][inputs][columns]} in any {@link WeightFormat}, scales {@code
 * [layers][ceil(inputs / 32)][columns]}.
 */
public final class LinearKernels {
    public static final int NO_ACTIVATION = 0;
    public static final int GELU_TANH = 1;
    public static final int SILU = 2;
    public static final int GELU_ERF = 3;

    private LinearKernels() {}

    /**
     * sums[s][c] = sum over slice s of x[k] * w[layer][k][c].
     *
     * <p>Shapes: x [inputs]; sums [slices][columns].
     *
     * <p>Order: s and c parallel, c contiguous; k left to right within blocks, blocks left to right.
     */
    public static void sliceSums(
            FloatArray x,
            FloatArray floats,
            IntArray words,
            FloatArray scales,
            FloatArray powers,
            IntArray layer,
            FloatArray sums,
            int format,
            int inputs,
            int columns) {
        for (@Parallel int i = 0; i < Slices.count(inputs) * columns; i++) {
            int slice = i / columns;
            int column = i - slice * columns;
            int weight = layer.get(0) * inputs * columns + column;
            int firstBlock = layer.get(0) * WeightFormat.blocks(inputs);
            int end = Math.min((slice + 1) * Slices.SIZE, inputs);
            int block = WeightFormat.block(format);
            float sum = 0f;
            for (int first = slice * Slices.SIZE; first < end; first += block) {
                float part = 0f;
                for (int k = first; k < Math.min(first + block, end); k++) {
                    float w = WeightFormat.element(format, floats, words, powers, weight + k * columns);
                    part = Fused.fma(x.get(k), w, part);
                }
                sum = Fused.fma(part, WeightFormat.scale(format, scales, firstBlock, first, columns, column), sum);
            }
            sums.set(i, sum);
        }
    }

    /**
     * out[r][c] = activation(sum_s sums[r][s][c] + bias[layer][c]), or out += scale * that.
     *
     * <p>Shapes: sums [rows][slices][columns]; bias [layers][columns]; out [rows][columns].
     *
     * <p>Order: r and c parallel, c contiguous; s left to right; then bias, activation, residual.
     *
     * @param biased 1 to add the bias
     * @param activation one of this class
     * @param adds 1 to add to {@code out}
     * @param scale of what is added
     * @param math a mode of {@link KernelMath}
     */
    public static void finish(
            FloatArray sums,
            FloatArray bias,
            IntArray layer,
            IntArray step,
            FloatArray out,
            int rows,
            int slices,
            int columns,
            int biased,
            int activation,
            int adds,
            float scale,
            int math) {
        for (@Parallel int i = 0; i < rows * columns; i++) {
            int row = i / columns;
            int column = i - row * columns;
            if (row < step.get(Step.ROWS)) {
                float y = Slices.total(sums, row * slices * columns + column, columns, slices);
                if (biased == 1) {
                    y = y + bias.get(layer.get(0) * columns + column);
                }
                y = KernelMath.activate(math, activation, y);
                if (adds == 1) {
                    y = Fused.fma(scale, y, out.get(i));
                }
                out.set(i, y);
            }
        }
    }
}
