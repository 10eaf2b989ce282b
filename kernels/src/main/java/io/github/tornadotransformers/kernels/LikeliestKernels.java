package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The index of the largest of each row's logits, the lowest where several are; {@link #NOT_FINITE} if one of them is NaN or infinite.
 *
 * <p>Order: none, as it makes no difference.
 */
public final class LikeliestKernels {
    /** Instead of an index. */
    public static final int NOT_FINITE = -1;

    /** Work items of the group that compares the parts. */
    public static final int GROUP = 128;

    private static final int MOST_PARTS = 8192;

    /** Of a part, in {@code found}: which logit is largest, and how many are finite. */
    private static final int INDEX = 0;

    private static final int FINITE = 1;

    /** What is said of a part in {@code found}. */
    public static final int FOUND = 2;

    private LikeliestKernels() {}

    /** Parts of so many logits of a row; with all rows' the work items of {@link #ofParts}. */
    public static int parts(int logits) {
        return Math.min(logits, MOST_PARTS);
    }

    /**
     * The largest logit of each part: part p has logits p, p + parts, ….
     *
     * <p>Shapes: x [rows][logits]; largest [rows][parts]; found [rows][parts][{@value #FOUND}].
     */
    public static void ofParts(FloatArray x, IntArray step, FloatArray largest, IntArray found, int rows, int logits) {
        for (@Parallel int at = 0; at < rows * parts(logits); at++) {
            int part = at % parts(logits);
            int row = at / parts(logits);
            if (row < step.get(Step.ROWS)) {
                float best = Float.NEGATIVE_INFINITY;
                int index = part;
                int finite = 0;
                for (int i = part; i < logits; i += MOST_PARTS) {
                    float value = x.get(row * logits + i);
                    if (value > Float.NEGATIVE_INFINITY) {
                        if (value < Float.POSITIVE_INFINITY) {
                            finite += 1;
                        }
                    }
                    if (value > best) {
                        best = value;
                        index = i;
                    }
                }
                largest.set(at, best);
                found.set(at * FOUND + INDEX, index);
                found.set(at * FOUND + FINITE, finite);
            }
        }
    }

    /**
     * The largest of all parts' logits, by a group for each row.
     *
     * <p>Shapes: largest [rows][parts]; found [rows][parts][{@value #FOUND}]; likeliest [rows], undefined behind the rows that hold tokens.
     */
    public static void ofAll(
            KernelContext context, FloatArray largest, IntArray found, IntArray likeliest, int logits) {
        float[] bests = context.allocateFloatLocalArray(GROUP);
        int[] indices = context.allocateIntLocalArray(GROUP);
        int[] finites = context.allocateIntLocalArray(GROUP);
        int lane = context.localIdx;
        int first = context.groupIdx * parts(logits);
        float best = Float.NEGATIVE_INFINITY;
        int index = 0;
        int finite = 0;
        for (int part = lane; part < parts(logits); part += GROUP) {
            float value = largest.get(first + part);
            int at = found.get((first + part) * FOUND + INDEX);
            finite += found.get((first + part) * FOUND + FINITE);
            if (comesBefore(value, at, best, index) == 1) {
                best = value;
                index = at;
            }
        }
        bests[lane] = best;
        indices[lane] = index;
        finites[lane] = finite;
        context.localBarrier();
        for (int half = GROUP / 2; half > 0; half = half / 2) {
            if (lane < half) {
                float value = bests[lane + half];
                int at = indices[lane + half];
                if (comesBefore(value, at, bests[lane], indices[lane]) == 1) {
                    bests[lane] = value;
                    indices[lane] = at;
                }
                finites[lane] = finites[lane] + finites[lane + half];
            }
            context.localBarrier();
        }
        if (lane == 0) {
            likeliest.set(context.groupIdx, finites[0] == logits ? indices[0] : NOT_FINITE);
        }
    }

    /** 1 if a value is larger than another, or as large and of a lower index. */
    private static int comesBefore(float value, int index, float other, int otherIndex) {
        int before = value > other ? 1 : 0;
        int equal = value == other ? 1 : 0;
        int lower = index < otherIndex ? 1 : 0;
        return before + equal * lower;
    }
}
