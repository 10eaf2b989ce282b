package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The norms of {@link NormKernels} in one kernel each: a group of {@value #GROUP} work items has a row.
 *
 * <p>Shapes: x, out [rows][width]; weight, bias [layers][width].
 *
 * <p>Order: the items bring {@value #SLICES} slices at a time into local memory; each slice is summed by one item, left to right; every
 * item adds the slices' sums, left to right.
 */
public final class NormGroupKernels {
    /** Work items of a group: each brings an element of every slice. */
    public static final int GROUP = Slices.SIZE;

    private static final int SLICES = 32;
    private static final int CHUNK = SLICES * Slices.SIZE;

    /** From one slice to the next in local memory: the items that sum them read from banks of their own. */
    private static final int STRIDE = Slices.SIZE + 1;

    private NormGroupKernels() {}

    /** {@code out[r][i] = (x[r][i] - mean) * (1 / sqrt(variance + epsilon)) * weight[layer][i] + bias[layer][i]}. */
    public static void layerNorm(
            KernelContext context,
            FloatArray x,
            FloatArray weight,
            FloatArray bias,
            IntArray layer,
            IntArray step,
            FloatArray out,
            int width,
            float epsilon,
            int math) {
        float[] chunk = context.allocateFloatLocalArray(SLICES * STRIDE);
        float[] sums = context.allocateFloatLocalArray(SLICES);
        int lane = context.localIdx;
        int row = context.groupIdx * width;
        if (context.groupIdx < step.get(Step.ROWS)) {
            float total = 0f;
            for (int first = 0; first < width; first += CHUNK) {
                for (int slice = 0; slice < SLICES; slice++) {
                    int i = first + slice * Slices.SIZE + lane;
                    if (i < width) {
                        chunk[slice * STRIDE + lane] = x.get(row + i);
                    }
                }
                context.localBarrier();
                int start = first + lane * Slices.SIZE;
                if (lane < SLICES && start < width) {
                    float sum = 0f;
                    for (int k = 0; k < Math.min(Slices.SIZE, width - start); k++) {
                        sum += chunk[lane * STRIDE + k];
                    }
                    sums[lane] = sum;
                }
                context.localBarrier();
                for (int slice = 0; slice < Math.min(SLICES, Slices.count(width) - first / Slices.SIZE); slice++) {
                    total += sums[slice];
                }
            }
            float mean = KernelMath.quotient(math, total, width);
            float deviations = 0f;
            for (int first = 0; first < width; first += CHUNK) {
                for (int slice = 0; slice < SLICES; slice++) {
                    int i = first + slice * Slices.SIZE + lane;
                    if (i < width) {
                        chunk[slice * STRIDE + lane] = x.get(row + i) - mean;
                    }
                }
                context.localBarrier();
                int start = first + lane * Slices.SIZE;
                if (lane < SLICES && start < width) {
                    float sum = 0f;
                    for (int k = 0; k < Math.min(Slices.SIZE, width - start); k++) {
                        float deviation = chunk[lane * STRIDE + k];
                        sum = Fused.fma(deviation, deviation, sum);
                    }
                    sums[lane] = sum;
                }
                context.localBarrier();
                for (int slice = 0; slice < Math.min(SLICES, Slices.count(width) - first / Slices.SIZE); slice++) {
                    deviations += sums[slice];
                }
            }
            float inverse = KernelMath.inverseRoot(math, KernelMath.quotient(math, deviations, width), epsilon);
            for (int i = lane; i < width; i += GROUP) {
                int of = layer.get(0) * width + i;
                out.set(row + i, Fused.fma((x.get(row + i) - mean) * inverse, weight.get(of), bias.get(of)));
            }
        }
    }

    /**
     * y = weight[layer][i] * (x[r][i] * (1 / sqrt(mean(x[r]^2) + epsilon))); out[r][i] = y, or out += scale * y.
     *
     * @param adds 1 to add to {@code out}
     * @param scale of what is added
     */
    public static void rmsNorm(
            KernelContext context,
            FloatArray x,
            FloatArray weight,
            IntArray layer,
            IntArray step,
            FloatArray out,
            int width,
            float epsilon,
            int adds,
            float scale,
            int math) {
        float[] chunk = context.allocateFloatLocalArray(SLICES * STRIDE);
        float[] sums = context.allocateFloatLocalArray(SLICES);
        int lane = context.localIdx;
        int row = context.groupIdx * width;
        if (context.groupIdx < step.get(Step.ROWS)) {
            float squares = 0f;
            for (int first = 0; first < width; first += CHUNK) {
                for (int slice = 0; slice < SLICES; slice++) {
                    int i = first + slice * Slices.SIZE + lane;
                    if (i < width) {
                        chunk[slice * STRIDE + lane] = x.get(row + i);
                    }
                }
                context.localBarrier();
                int start = first + lane * Slices.SIZE;
                if (lane < SLICES && start < width) {
                    float sum = 0f;
                    for (int k = 0; k < Math.min(Slices.SIZE, width - start); k++) {
                        float value = chunk[lane * STRIDE + k];
                        sum = Fused.fma(value, value, sum);
                    }
                    sums[lane] = sum;
                }
                context.localBarrier();
                for (int slice = 0; slice < Math.min(SLICES, Slices.count(width) - first / Slices.SIZE); slice++) {
                    squares += sums[slice];
                }
            }
            float inverse = KernelMath.inverseRoot(math, KernelMath.quotient(math, squares, width), epsilon);
            for (int i = lane; i < width; i += GROUP) {
                float y = Fused.product(weight.get(layer.get(0) * width + i), x.get(row + i) * inverse);
                if (adds == 1) {
                    y = Fused.fma(scale, y, out.get(row + i));
                }
                out.set(row + i, y);
            }
        }
    }
}
