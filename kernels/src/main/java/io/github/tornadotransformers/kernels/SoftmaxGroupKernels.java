package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The exponentials of {@link AttentionKernels} and their sums, by groups of {@value #GROUP} work items: a group has a slice of a row's
 * head, an item a position. Exponentials are taken side by side; one item sums those that are seen, left to right.
 *
 * <p>Shapes: scores, exponentials [rows][heads][context]; maxima, sums [rows][heads][slices of context].
 */
public final class SoftmaxGroupKernels {
    /** Work items of a group: one for each position of a slice. */
    public static final int GROUP = Slices.SIZE;

    private SoftmaxGroupKernels() {}

    /** {@link AttentionKernels#sliceExponentials}: each group takes the maximum of the slices' maxima again. */
    public static void sliceExponentials(
            KernelContext item,
            FloatArray scores,
            FloatArray maxima,
            IntArray step,
            FloatArray sums,
            int heads,
            int context,
            int window,
            int math) {
        float[] shared = item.allocateFloatLocalArray(GROUP);
        int lane = item.localIdx;
        int start = item.groupIdx % Slices.count(context) * Slices.SIZE;
        int line = item.groupIdx / Slices.count(context);
        int row = line / heads;
        int length = step.get(Step.position(row)) + 1;
        int first = Window.first(length, window);
        if (row < step.get(Step.ROWS) && start < length && start + Slices.SIZE > first) {
            int slices = line * Slices.count(context);
            int end = Slices.count(length);
            int slice = first / Slices.SIZE + lane;
            float max = maxima.get(slices + Math.min(slice, end - 1));
            for (slice += GROUP; slice < end; slice += GROUP) {
                float other = maxima.get(slices + slice);
                max = other > max ? other : max;
            }
            shared[lane] = max;
            item.localBarrier();
            for (int half = GROUP / 2; half > 0; half = half / 2) {
                if (lane < half) {
                    float other = shared[lane + half];
                    float own = shared[lane];
                    shared[lane] = other > own ? other : own;
                }
                item.localBarrier();
            }
            max = shared[0];
            item.localBarrier();
            int from = Math.max(start, first) - start;
            int until = Math.min(Slices.SIZE, length - start);
            if (lane >= from && lane < until) {
                int at = line * context + start + lane;
                float exponential = KernelMath.exp(math, scores.get(at) - max);
                scores.set(at, exponential);
                shared[lane] = exponential;
            }
            item.localBarrier();
            if (lane == 0) {
                float sum = 0f;
                for (int k = from; k < until; k++) {
                    sum += shared[k];
                }
                sums.set(item.groupIdx, sum);
            }
        }
    }
}
