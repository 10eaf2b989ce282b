package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The gradients of layer norm and RMS norm, each added to what its array holds; the bias' is that of a linear layer. With n
 * the normalized row and g = dOut * weight, a first kernel takes the statistics of each row, and two others use them. RMS norm
 * is layer norm with both means of 0, which leaves its bits.
 *
 * <p>Shapes: x, dOut, dX [rows][width]; weight, dWeight [layers][width]; statistics [rows][{@link #STATISTICS}].
 *
 * <p>Error: 0 ulp against the oracle.
 *
 * <p>Source: Ba, Kiros &amp; Hinton 2016, arXiv:1607.06450; Zhang &amp; Sennrich 2019, arXiv:1910.07467.
 */
public final class NormGradientKernels {
    /** Floats that {@link #rowStatistics} leaves for a row: mean, inverse root, mean of g, mean of g * n. */
    public static final int STATISTICS = 4;

    private static final int MEAN = 0;
    private static final int INVERSE = 1;
    private static final int MEAN_G = 2;
    private static final int MEAN_GN = 3;

    private NormGradientKernels() {}

    /**
     * statistics[r] = the mean of x[r], the inverse root of its variance, and the means of g and g * n.
     *
     * <p>Order: r parallel; the sums over i are sliced.
     *
     * @param centered 1 for layer norm; 0 for RMS norm, whose means are 0
     * @param one 1, which makes the bound an expression
     * @param math a mode of {@link KernelMath}
     */
    public static void rowStatistics(
            FloatArray x,
            FloatArray dOut,
            FloatArray weight,
            IntArray layer,
            IntArray step,
            FloatArray statistics,
            int one,
            int rows,
            int width,
            float epsilon,
            int centered,
            int math) {
        for (@Parallel int row = 0; row < one * rows; row++) {
            if (row < step.get(Step.ROWS)) {
                int first = row * width;
                int of = layer.get(0) * width;
                float mean = 0f;
                float meanG = 0f;
                if (centered == 1) {
                    mean = KernelMath.quotient(math, sum(x, first, width), width);
                    meanG = KernelMath.quotient(math, sumOfProducts(dOut, first, weight, of, width), width);
                }
                float squares = 0f;
                for (int start = 0; start < width; start += Slices.SIZE) {
                    float slice = 0f;
                    for (int i = start; i < Math.min(start + Slices.SIZE, width); i++) {
                        float deviation = x.get(first + i) - mean;
                        slice = Fused.fma(deviation, deviation, slice);
                    }
                    squares += slice;
                }
                float inverse = KernelMath.inverseRoot(math, KernelMath.quotient(math, squares, width), epsilon);
                float products = 0f;
                for (int start = 0; start < width; start += Slices.SIZE) {
                    float slice = 0f;
                    for (int i = start; i < Math.min(start + Slices.SIZE, width); i++) {
                        float n = (x.get(first + i) - mean) * inverse;
                        slice = Fused.fma(dOut.get(first + i) * weight.get(of + i), n, slice);
                    }
                    products += slice;
                }
                statistics.set(row * STATISTICS + MEAN, mean);
                statistics.set(row * STATISTICS + INVERSE, inverse);
                statistics.set(row * STATISTICS + MEAN_G, meanG);
                statistics.set(row * STATISTICS + MEAN_GN, KernelMath.quotient(math, products, width));
            }
        }
    }

    private static float sum(FloatArray x, int first, int width) {
        float sum = 0f;
        for (int start = 0; start < width; start += Slices.SIZE) {
            float slice = 0f;
            for (int i = start; i < Math.min(start + Slices.SIZE, width); i++) {
                slice += x.get(first + i);
            }
            sum += slice;
        }
        return sum;
    }

    private static float sumOfProducts(FloatArray x, int first, FloatArray y, int of, int width) {
        float sum = 0f;
        for (int start = 0; start < width; start += Slices.SIZE) {
            float slice = 0f;
            for (int i = start; i < Math.min(start + Slices.SIZE, width); i++) {
                slice = Fused.fma(x.get(first + i), y.get(of + i), slice);
            }
            sum += slice;
        }
        return sum;
    }

    /**
     * dX[r][i] += ((g[i] - mean(g)) - n[i] * mean(g * n)) * inverse.
     *
     * <p>Order: r and i parallel, i contiguous.
     */
    public static void addToInputs(
            FloatArray x,
            FloatArray dOut,
            FloatArray weight,
            FloatArray statistics,
            IntArray layer,
            IntArray step,
            FloatArray dX,
            int rows,
            int width) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            int row = j / width;
            if (row < step.get(Step.ROWS)) {
                float inverse = statistics.get(row * STATISTICS + INVERSE);
                float n = (x.get(j) - statistics.get(row * STATISTICS + MEAN)) * inverse;
                float w = weight.get(layer.get(0) * width + j - row * width);
                float g = Fused.fma(dOut.get(j), w, Fused.negated(statistics.get(row * STATISTICS + MEAN_G)));
                float meanGn = Fused.negated(statistics.get(row * STATISTICS + MEAN_GN));
                dX.set(j, Fused.fma(Fused.fma(n, meanGn, g), inverse, dX.get(j)));
            }
        }
    }

    /**
     * dWeight[layer][i] += sum_r dOut[r][i] * n[r][i].
     *
     * <p>Order: i parallel and contiguous; the sum over r is sliced.
     *
     * @param one 1, which makes the bound an expression
     */
    public static void addToWeights(
            FloatArray x,
            FloatArray dOut,
            FloatArray statistics,
            IntArray layer,
            IntArray step,
            FloatArray dWeight,
            int one,
            int width) {
        for (@Parallel int i = 0; i < one * width; i++) {
            int of = layer.get(0) * width + i;
            float sum = 0f;
            for (int start = 0; start < step.get(Step.ROWS); start += Slices.SIZE) {
                float slice = 0f;
                for (int r = start; r < Math.min(start + Slices.SIZE, step.get(Step.ROWS)); r++) {
                    float mean = statistics.get(r * STATISTICS + MEAN);
                    float n = (x.get(r * width + i) - mean) * statistics.get(r * STATISTICS + INVERSE);
                    slice = Fused.fma(dOut.get(r * width + i), n, slice);
                }
                sum += slice;
            }
            dWeight.set(of, dWeight.get(of) + sum);
        }
    }
}
