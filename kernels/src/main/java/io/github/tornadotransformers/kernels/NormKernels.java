package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * Layer norm and RMS norm. Kernels that give slices to work items come first, then one that re-adds a row's few slice sums in
 * every work item and scales its element.
 *
 * <p>Shapes: x, out [rows][width]; slice sums [rows][slices]; weight, bias [layers][width].
 *
 * <p>Source: Ba, Kiros &amp; Hinton 2016, arXiv:1607.06450; Zhang &amp; Sennrich 2019, arXiv:1910.07467.
 */
public final class NormKernels {
    private NormKernels() {}

    /** sums[r][s] = sum over slice s of x[r][i]. Order: r and s parallel; i left to right. */
    public static void sliceSums(FloatArray x, IntArray step, FloatArray sums, int rows, int width) {
        for (@Parallel int j = 0; j < rows * Slices.count(width); j++) {
            int row = j / Slices.count(width);
            int start = j % Slices.count(width) * Slices.SIZE;
            if (row < step.get(Step.ROWS)) {
                float sum = 0f;
                for (int i = start; i < Math.min(start + Slices.SIZE, width); i++) {
                    sum += x.get(row * width + i);
                }
                sums.set(j, sum);
            }
        }
    }

    /**
     * squares[r][g][s] = sum over slice s of group g of x[r][g][i]^2.
     *
     * <p>Shapes: x [rows][rowWidth], whose groups lie side by side from firstColumn on, size elements each; squares
     * [rows][groups][slices of a group].
     *
     * <p>Order: r, g and s parallel; i left to right.
     */
    public static void sliceSquares(
            FloatArray x,
            IntArray step,
            FloatArray squares,
            int rows,
            int rowWidth,
            int firstColumn,
            int groups,
            int size) {
        for (@Parallel int j = 0; j < rows * groups * Slices.count(size); j++) {
            int start = j % Slices.count(size) * Slices.SIZE;
            int group = j / Slices.count(size) % groups;
            int row = j / Slices.count(size) / groups;
            if (row < step.get(Step.ROWS)) {
                int first = row * rowWidth + firstColumn + group * size;
                float sum = 0f;
                for (int i = start; i < Math.min(start + Slices.SIZE, size); i++) {
                    float value = x.get(first + i);
                    sum = Fused.fma(value, value, sum);
                }
                squares.set(j, sum);
            }
        }
    }

    /**
     * deviations[r][s] = sum over slice s of (x[r][i] - mean)^2, the mean from {@link #sliceSums}' sums. Order: r and s
     * parallel; i left to right.
     */
    public static void sliceDeviations(
            FloatArray x, FloatArray sums, IntArray step, FloatArray deviations, int rows, int width, int math) {
        for (@Parallel int j = 0; j < rows * Slices.count(width); j++) {
            int row = j / Slices.count(width);
            int start = j % Slices.count(width) * Slices.SIZE;
            if (row < step.get(Step.ROWS)) {
                float mean = mean(sums, row, width, math);
                float sum = 0f;
                for (int i = start; i < Math.min(start + Slices.SIZE, width); i++) {
                    float deviation = x.get(row * width + i) - mean;
                    sum = Fused.fma(deviation, deviation, sum);
                }
                deviations.set(j, sum);
            }
        }
    }

    /**
     * out[r][i] = (x[r][i] - mean) * (1 / sqrt(variance + epsilon)) * weight[layer][i] + bias[layer][i].
     *
     * <p>Order: r and i parallel, i contiguous; each work item re-adds the row's slices.
     */
    public static void layerNorm(
            FloatArray x,
            FloatArray sums,
            FloatArray deviations,
            FloatArray weight,
            FloatArray bias,
            IntArray layer,
            IntArray step,
            FloatArray out,
            int rows,
            int width,
            float epsilon,
            int math) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            int row = j / width;
            int i = layer.get(0) * width + j - row * width;
            if (row < step.get(Step.ROWS)) {
                float mean = mean(sums, row, width, math);
                float inverse = KernelMath.inverseRoot(math, mean(deviations, row, width, math), epsilon);
                out.set(j, Fused.fma((x.get(j) - mean) * inverse, weight.get(i), bias.get(i)));
            }
        }
    }

    /**
     * y = weight[layer][i] * (x[r][g][i] * (1 / sqrt(mean(x[r][g]^2) + epsilon))); out[r][g][i] = y, or out += scale * y. The
     * groups share the weight.
     *
     * <p>Shapes: x, out [rows][groups][size]; squares as of {@link #sliceSquares}; weight [layers][size].
     *
     * <p>Order: r, g and i parallel, i contiguous; each work item re-adds the group's slices.
     *
     * @param adds 1 to add to {@code out}
     * @param scale of what is added
     */
    public static void rmsNorm(
            FloatArray x,
            FloatArray squares,
            FloatArray weight,
            IntArray layer,
            IntArray step,
            FloatArray out,
            int rows,
            int groups,
            int size,
            float epsilon,
            int adds,
            float scale,
            int math) {
        for (@Parallel int j = 0; j < rows * groups * size; j++) {
            int i = j % size;
            int group = j / size;
            int row = group / groups;
            if (row < step.get(Step.ROWS)) {
                float inverse = KernelMath.inverseRoot(math, mean(squares, group, size, math), epsilon);
                float y = Fused.product(weight.get(layer.get(0) * size + i), x.get(j) * inverse);
                if (adds == 1) {
                    y = Fused.fma(scale, y, out.get(j));
                }
                out.set(j, y);
            }
        }
    }

    /**
     * {@link #rmsNorm} in place, of some of a row's columns; the others stay.
     *
     * <p>Shapes: x [rows][rowWidth] and squares as of {@link #sliceSquares}; weight [layers][size].
     *
     * <p>Order: r, g and i parallel, i contiguous; each work item re-adds the group's slices.
     */
    public static void rmsNormInPlace(
            FloatArray squares,
            FloatArray weight,
            IntArray layer,
            IntArray step,
            FloatArray x,
            int rows,
            int rowWidth,
            int firstColumn,
            int groups,
            int size,
            float epsilon,
            int math) {
        for (@Parallel int j = 0; j < rows * groups * size; j++) {
            int i = j % size;
            int group = j / size % groups;
            int row = j / size / groups;
            if (row < step.get(Step.ROWS)) {
                int at = row * rowWidth + firstColumn + group * size + i;
                float inverse = KernelMath.inverseRoot(math, mean(squares, j / size, size, math), epsilon);
                x.set(at, Fused.product(weight.get(layer.get(0) * size + i), x.get(at) * inverse));
            }
        }
    }

    /**
     * {@link #layerNorm} of a single row, in one kernel: each work item sums the whole row, which for rows that are not long
     * takes less than the kernels it saves.
     *
     * <p>Order: i parallel and contiguous; both sums sliced.
     */
    public static void layerNormRow(
            FloatArray x,
            FloatArray weight,
            FloatArray bias,
            IntArray layer,
            FloatArray out,
            int rows,
            int width,
            float epsilon,
            int math) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            float sum = 0f;
            for (int start = 0; start < width; start += Slices.SIZE) {
                float slice = 0f;
                for (int i = start; i < Math.min(start + Slices.SIZE, width); i++) {
                    slice += x.get(i);
                }
                sum += slice;
            }
            float mean = KernelMath.quotient(math, sum, width);
            float deviations = 0f;
            for (int start = 0; start < width; start += Slices.SIZE) {
                float slice = 0f;
                for (int i = start; i < Math.min(start + Slices.SIZE, width); i++) {
                    float deviation = x.get(i) - mean;
                    slice = Fused.fma(deviation, deviation, slice);
                }
                deviations += slice;
            }
            float inverse = KernelMath.inverseRoot(math, KernelMath.quotient(math, deviations, width), epsilon);
            int of = layer.get(0) * width + j;
            out.set(j, Fused.fma((x.get(j) - mean) * inverse, weight.get(of), bias.get(of)));
        }
    }

    /** {@link #rmsNorm} of a single row of one group, in one kernel, as {@link #layerNormRow} is. */
    public static void rmsNormRow(
            FloatArray x,
            FloatArray weight,
            IntArray layer,
            FloatArray out,
            int rows,
            int width,
            float epsilon,
            int adds,
            float scale,
            int math) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            float squares = 0f;
            for (int start = 0; start < width; start += Slices.SIZE) {
                float slice = 0f;
                for (int i = start; i < Math.min(start + Slices.SIZE, width); i++) {
                    float value = x.get(i);
                    slice = Fused.fma(value, value, slice);
                }
                squares += slice;
            }
            float inverse = KernelMath.inverseRoot(math, KernelMath.quotient(math, squares, width), epsilon);
            float y = Fused.product(weight.get(layer.get(0) * width + j), x.get(j) * inverse);
            if (adds == 1) {
                y = Fused.fma(scale, y, out.get(j));
            }
            out.set(j, y);
        }
    }

    private static float mean(FloatArray sums, int row, int width, int math) {
        int slices = Slices.count(width);
        return KernelMath.quotient(math, Slices.total(sums, row * slices, 1, slices), width);
    }
}
