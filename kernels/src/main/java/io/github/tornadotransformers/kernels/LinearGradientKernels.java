package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The gradients of linear layers, each added to what its array holds. Row r stands at position r of one whole sequence; sums
 * over rows run over the {@code step[ROWS]} that hold tokens.
 *
 * <p>Shapes: x, dX [rows][inputs]; dOut [rows][outputs]; weight, dWeight [layers][inputs][outputs]; dBias [layers][outputs];
 * all float32.
 *
 * <p>Error: 0 ulp against the oracle.
 */
public final class LinearGradientKernels {
    private LinearGradientKernels() {}

    /**
     * dX[r][k] += sum_c dOut[r][c] * weight[layer][k][c].
     *
     * <p>Order: r and k parallel, k contiguous in dX; the sum over c is sliced.
     */
    public static void addToInputs(
            FloatArray dOut,
            FloatArray weight,
            IntArray layer,
            IntArray step,
            FloatArray dX,
            int rows,
            int inputs,
            int outputs) {
        for (@Parallel int i = 0; i < rows * inputs; i++) {
            int row = i / inputs;
            int first = (layer.get(0) * inputs + i - row * inputs) * outputs;
            if (row < step.get(Step.ROWS)) {
                float sum = 0f;
                for (int start = 0; start < outputs; start += Slices.SIZE) {
                    float slice = 0f;
                    for (int c = start; c < Math.min(start + Slices.SIZE, outputs); c++) {
                        slice = Fused.fma(dOut.get(row * outputs + c), weight.get(first + c), slice);
                    }
                    sum += slice;
                }
                dX.set(i, dX.get(i) + sum);
            }
        }
    }

    /**
     * dWeight[layer][k][c] += sum_r x[r][k] * dOut[r][c].
     *
     * <p>Order: k and c parallel, c contiguous in dOut and dWeight; the sum over r is sliced.
     */
    public static void addToWeights(
            FloatArray x, FloatArray dOut, IntArray layer, IntArray step, FloatArray dWeight, int inputs, int outputs) {
        for (@Parallel int i = 0; i < inputs * outputs; i++) {
            int k = i / outputs;
            int c = i - k * outputs;
            int of = layer.get(0) * inputs * outputs + i;
            float sum = 0f;
            for (int start = 0; start < step.get(Step.ROWS); start += Slices.SIZE) {
                float slice = 0f;
                for (int r = start; r < Math.min(start + Slices.SIZE, step.get(Step.ROWS)); r++) {
                    slice = Fused.fma(x.get(r * inputs + k), dOut.get(r * outputs + c), slice);
                }
                sum += slice;
            }
            dWeight.set(of, dWeight.get(of) + sum);
        }
    }

    /**
     * dBias[layer][c] += sum_r dOut[r][c].
     *
     * <p>Order: c parallel and contiguous; the sum over r is sliced.
     *
     * @param one 1, which makes the bound an expression
     */
    public static void addToBias(
            FloatArray dOut, IntArray layer, IntArray step, FloatArray dBias, int one, int outputs) {
        for (@Parallel int c = 0; c < one * outputs; c++) {
            int of = layer.get(0) * outputs + c;
            float sum = 0f;
            for (int start = 0; start < step.get(Step.ROWS); start += Slices.SIZE) {
                float slice = 0f;
                for (int r = start; r < Math.min(start + Slices.SIZE, step.get(Step.ROWS)); r++) {
                    slice += dOut.get(r * outputs + c);
                }
                sum += slice;
            }
            dBias.set(of, dBias.get(of) + sum);
        }
    }
}
