package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The largest of each row's logits with their indices, in rank: larger first, and the lower index first where they are equal.
 *
 * <p>Order: none, as it makes no difference.
 */
public final class LikeliestKernels {
    /** Instead of the first index, where a logit is NaN or infinite. */
    public static final int NOT_FINITE = -1;

    /** How many of a row are found at most. */
    public static final int MOST = 64;

    /** Of more logits, indices are no floats. */
    public static final int MOST_LOGITS = 1 << 24;

    /** Work items of the group that compares a row's parts. */
    public static final int GROUP = 128;

    private static final int MOST_PARTS = 8192;

    /** What is said of each that was found: its index, as a float, and its logit. */
    private static final int SAID = 2;

    private LikeliestKernels() {}

    /** Parts of so many logits of a row; with all rows' the work items of {@link #ofParts}. */
    public static int parts(int logits) {
        return Math.min(logits, MOST_PARTS);
    }

    /** Floats of what {@link #ofAll} finds. */
    public static long size(int rows) {
        return (long) rows * MOST * SAID;
    }

    /** Where the index of a row's logit of that rank is. */
    public static int index(int row, int rank) {
        return (row * MOST + rank) * SAID;
    }

    /** Where a row's logit of that rank is. */
    public static int logit(int row, int rank) {
        return (row * MOST + rank) * SAID + 1;
    }

    /**
     * The largest logit of each part and its index; {@link #NOT_FINITE} and infinity where one of the part is NaN or infinite. Part p
     * has logits p, p + parts, ….
     *
     * <p>Shapes: x [rows][logits]; largest, indices [rows][parts].
     */
    public static void ofParts(
            FloatArray x, IntArray step, FloatArray largest, IntArray indices, int rows, int logits) {
        for (@Parallel int at = 0; at < rows * parts(logits); at++) {
            int part = at % parts(logits);
            int row = at / parts(logits);
            if (row < step.get(Step.ROWS)) {
                float best = Float.NEGATIVE_INFINITY;
                int index = part;
                int all = 0;
                int finite = 0;
                for (int i = part; i < logits; i += MOST_PARTS) {
                    float value = x.get(row * logits + i);
                    all += 1;
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
                largest.set(at, finite == all ? best : Float.POSITIVE_INFINITY);
                indices.set(at, finite == all ? index : NOT_FINITE);
            }
        }
    }

    /**
     * The largest of all parts' logits, by a group for each row: one after the other, each of which the next in its part replaces.
     *
     * <p>Shapes: x [rows][logits]; largest, indices [rows][parts], which are used up; likeliest [rows][{@value #MOST}][2], undefined
     * behind the rows that hold tokens, and behind what {@link Step#candidates} asks for.
     */
    public static void ofAll(
            KernelContext context,
            FloatArray x,
            IntArray step,
            FloatArray largest,
            IntArray indices,
            FloatArray likeliest,
            int logits) {
        float[] bests = context.allocateFloatLocalArray(GROUP);
        int[] places = context.allocateIntLocalArray(GROUP);
        int lane = context.localIdx;
        int row = context.groupIdx;
        int first = row * parts(logits);
        int wanted = row < step.get(Step.ROWS) ? step.get(Step.candidates(row)) : 0;
        int taken = logits;
        float best = Float.NEGATIVE_INFINITY;
        int place = logits;
        for (int rank = 0; rank < wanted; rank++) {
            if (place == taken) {
                best = Float.NEGATIVE_INFINITY;
                place = logits;
                for (int part = lane; part < parts(logits); part += GROUP) {
                    float value = largest.get(first + part);
                    int at = indices.get(first + part);
                    if (comesBefore(value, at, best, place) == 1) {
                        best = value;
                        place = at;
                    }
                }
            }
            bests[lane] = best;
            places[lane] = place;
            context.localBarrier();
            for (int half = GROUP / 2; half > 0; half = half / 2) {
                if (lane < half) {
                    float value = bests[lane + half];
                    int at = places[lane + half];
                    if (comesBefore(value, at, bests[lane], places[lane]) == 1) {
                        bests[lane] = value;
                        places[lane] = at;
                    }
                }
                context.localBarrier();
            }
            float found = bests[0];
            taken = places[0];
            context.localBarrier();
            if (lane == 0) {
                likeliest.set(index(row, rank), taken);
                likeliest.set(logit(row, rank), found);
            }
            if (rank + 1 < wanted && place == taken && taken != NOT_FINITE) {
                int part = (taken & Integer.MAX_VALUE) % MOST_PARTS;
                float next = Float.NEGATIVE_INFINITY;
                int nextAt = logits;
                for (int i = part; i < logits; i += MOST_PARTS) {
                    float value = x.get(row * logits + i);
                    if (comesBefore(found, taken, value, i) == 1) {
                        if (value > next) {
                            next = value;
                            nextAt = i;
                        }
                    }
                }
                largest.set(first + part, next);
                indices.set(first + part, nextAt);
            }
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
