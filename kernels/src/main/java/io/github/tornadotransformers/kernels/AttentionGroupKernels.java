package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * {@link AttentionKernels} by groups of {@value #GROUP} work items: a group has a page, of up to {@value #MOST_HEADS} of a row's heads that share
 * keys and values, so that these are read and widened once for all of them. Groups of the same page are neighbours. Exponentials are taken in
 * between, by {@link SoftmaxGroupKernels}; probabilities are nowhere but in local memory.
 *
 * <p>An item has {@value #LOADS} keys or values on their way at once; a barrier after them keeps compilers from putting them off.
 *
 * <p>Shapes: scores, exponentials [rows][heads][context]; maxima, totals [rows][heads][slices of context]; sums
 * [rows][heads][slices of context][headDim].
 */
public final class AttentionGroupKernels {
    /** Work items of a group: one for each position of a page. */
    public static final int GROUP = Slices.SIZE;

    /** Elements of a head, at most. */
    private static final int MOST_HEAD_DIM = 256;

    private static final int MOST_HEADS = 4;

    /** Keys or values that an item has on their way at once. */
    public static final int LOADS = 32;

    /** Sums of slices that an item has on their way at once. */
    public static final int SUMS = 16;

    /** From one head to the next in local memory: those that are read at once are in banks of their own. */
    private static final int LINE = GROUP + 1;

    private AttentionGroupKernels() {}

    /** Whether a head's query fits local memory. */
    public static boolean takes(int headDim) {
        return headDim <= MOST_HEAD_DIM;
    }

    /** Heads of a group; the last of those that share keys may have fewer. */
    public static int together(int headsPerKvHead) {
        return Math.min(headsPerKvHead, MOST_HEADS);
    }

    /** Groups of the heads that share keys. */
    private static int sharers(int headsPerKvHead) {
        return (headsPerKvHead + MOST_HEADS - 1) / MOST_HEADS;
    }

    /** Work items of {@link #scaledScores} and {@link #sliceOutputs}. */
    public static long items(int rows, int heads, int headsPerKvHead, int context) {
        return (long) rows * (heads / headsPerKvHead) * sharers(headsPerKvHead) * Slices.count(context) * GROUP;
    }

    /** Work items of {@link #finishOutputs}. */
    public static long finishItems(int rows, int width) {
        return (long) rows * tiles(width) * GROUP;
    }

    private static int tiles(int width) {
        return (width + GROUP - 1) / GROUP;
    }

    /** {@link AttentionKernels#scaledScores}, and the maximum of each slice, as {@link AttentionKernels#sliceMaxima} has it. */
    public static void scaledScores(
            KernelContext item,
            FloatArray qkv,
            FloatArray keys,
            ShortArray shortKeys,
            FloatArray powers,
            IntArray layer,
            IntArray step,
            FloatArray scores,
            FloatArray maxima,
            int heads,
            int headsPerKvHead,
            int headDim,
            int context,
            int pages,
            int format,
            int window,
            float scale,
            float cap,
            float inverseCap,
            int math) {
        float[] query = item.allocateFloatLocalArray(MOST_HEADS * MOST_HEAD_DIM);
        float[] shared = item.allocateFloatLocalArray(MOST_HEADS * LINE);
        float[] floats = new float[LOADS];
        int[] bits = new int[LOADS];
        int together = together(headsPerKvHead);
        int sharers = sharers(headsPerKvHead);
        int kvHeads = heads / headsPerKvHead;
        int lane = item.localIdx & (GROUP - 1);
        int kvHead = item.groupIdx / sharers % kvHeads;
        int before = item.groupIdx % sharers * together;
        int slice = item.groupIdx / (kvHeads * sharers) % Slices.count(context);
        int row = item.groupIdx / (kvHeads * sharers) / Slices.count(context);
        int start = slice * Slices.SIZE;
        int length = step.get(Step.position(row)) + 1;
        int first = Window.first(length, window);
        if (row < step.get(Step.ROWS) && start < length && start + Slices.SIZE > first) {
            int own = Math.min(together, headsPerKvHead - before);
            int head = kvHead * headsPerKvHead + before;
            int of = (row * (heads + 2 * kvHeads) + head) * headDim;
            int page = KvPages.of(step, layer, pages, row, start);
            int key = KvPages.key(page, kvHeads, kvHead, headDim, 0, start) + lane;
            for (int i = lane; i < together * headDim; i += GROUP) {
                query[i] = qkv.get(of + Math.min(i, own * headDim - 1));
            }
            item.localBarrier();
            float s0 = 0f;
            float s1 = 0f;
            float s2 = 0f;
            float s3 = 0f;
            int d = 0;
            for (; d + LOADS <= headDim; d += LOADS) {
                for (int j = 0; j < LOADS; j++) {
                    if (format == WeightFormat.F32) {
                        floats[j] = keys.get(key + (d + j) * Slices.SIZE);
                    } else {
                        bits[j] = shortKeys.get(key + (d + j) * Slices.SIZE);
                    }
                }
                item.localBarrier();
                for (int j = 0; j < LOADS; j++) {
                    float k = KvFormat.value(format, floats[j], bits[j], powers);
                    s0 = Fused.fma(query[d + j], k, s0);
                    if (together > 1) {
                        s1 = Fused.fma(query[headDim + d + j], k, s1);
                    }
                    if (together > 2) {
                        s2 = Fused.fma(query[2 * headDim + d + j], k, s2);
                    }
                    if (together > 3) {
                        s3 = Fused.fma(query[3 * headDim + d + j], k, s3);
                    }
                }
            }
            for (; d < headDim; d++) {
                float k = KvFormat.load(format, keys, shortKeys, powers, key + d * Slices.SIZE);
                s0 = Fused.fma(query[d], k, s0);
                if (together > 1) {
                    s1 = Fused.fma(query[headDim + d], k, s1);
                }
                if (together > 2) {
                    s2 = Fused.fma(query[2 * headDim + d], k, s2);
                }
                if (together > 3) {
                    s3 = Fused.fma(query[3 * headDim + d], k, s3);
                }
            }
            shared[lane] = s0;
            if (together > 1) {
                shared[LINE + lane] = s1;
            }
            if (together > 2) {
                shared[2 * LINE + lane] = s2;
            }
            if (together > 3) {
                shared[3 * LINE + lane] = s3;
            }
            int t = start + lane;
            int line = row * heads + head;
            for (int h = 0; h < own; h++) {
                float score = Float.NEGATIVE_INFINITY;
                if (t < length && t >= first) {
                    score = KernelMath.scaled(math, shared[h * LINE + lane], scale, cap, inverseCap);
                    scores.set((line + h) * context + t, score);
                }
                shared[h * LINE + lane] = score;
            }
            item.localBarrier();
            for (int half = GROUP / 2; half > 0; half = half / 2) {
                if (lane < half) {
                    for (int h = 0; h < own; h++) {
                        float other = shared[h * LINE + lane + half];
                        float mine = shared[h * LINE + lane];
                        shared[h * LINE + lane] = other > mine ? other : mine;
                    }
                }
                item.localBarrier();
            }
            if (lane < own) {
                maxima.set((line + lane) * Slices.count(context) + slice, shared[lane * LINE]);
            }
        }
    }

    /**
     * {@link AttentionKernels#divideByTotals} and {@link AttentionKernels#sliceOutputs}. A group adds up the totals of its heads again, slices left
     * to right.
     *
     * @param totals of the exponentials of each slice
     */
    public static void sliceOutputs(
            KernelContext item,
            FloatArray exponentials,
            FloatArray totals,
            FloatArray values,
            ShortArray shortValues,
            FloatArray powers,
            IntArray layer,
            IntArray step,
            FloatArray sums,
            int heads,
            int headsPerKvHead,
            int headDim,
            int context,
            int pages,
            int format,
            int window,
            int math) {
        float[] shared = item.allocateFloatLocalArray(MOST_HEADS * LINE);
        float[] total = item.allocateFloatLocalArray(MOST_HEADS);
        float[] floats = new float[LOADS];
        int[] bits = new int[LOADS];
        int together = together(headsPerKvHead);
        int sharers = sharers(headsPerKvHead);
        int kvHeads = heads / headsPerKvHead;
        int slices = Slices.count(context);
        int lane = item.localIdx & (GROUP - 1);
        int kvHead = item.groupIdx / sharers % kvHeads;
        int before = item.groupIdx % sharers * together;
        int slice = item.groupIdx / (kvHeads * sharers) % slices;
        int row = item.groupIdx / (kvHeads * sharers) / slices;
        int start = slice * Slices.SIZE;
        int length = step.get(Step.position(row)) + 1;
        int first = Window.first(length, window);
        if (row < step.get(Step.ROWS) && start < length && start + Slices.SIZE > first) {
            int own = Math.min(together, headsPerKvHead - before);
            int line = row * heads + kvHead * headsPerKvHead + before;
            int end = Slices.count(length);
            float sum = 0f;
            for (int from = first / Slices.SIZE; from < end; from += GROUP) {
                for (int h = 0; h < own; h++) {
                    shared[h * LINE + lane] = totals.get((line + h) * slices + Math.min(from + lane, end - 1));
                }
                item.localBarrier();
                if (lane < own) {
                    for (int i = 0; i < Math.min(GROUP, end - from); i++) {
                        sum += shared[lane * LINE + i];
                    }
                    total[lane] = sum;
                }
                item.localBarrier();
            }
            int from = Math.max(start, first) - start;
            int until = Math.min(Slices.SIZE, length - start);
            int position = start + Math.min(Math.max(lane, from), until - 1);
            for (int h = 0; h < own; h++) {
                float exponential = exponentials.get((line + h) * context + position);
                shared[h * LINE + lane] = KernelMath.quotient(math, exponential, total[h]);
            }
            item.localBarrier();
            int columns = Math.min(headDim, GROUP);
            int sides = GROUP / columns;
            int each = ((together + sides - 1) & Integer.MAX_VALUE) / sides;
            int side = lane / columns;
            int h0 = Math.min(side, own - 1) * LINE;
            int h1 = Math.min(side + sides, own - 1) * LINE;
            int h2 = Math.min(side + 2 * sides, own - 1) * LINE;
            int h3 = Math.min(side + 3 * sides, own - 1) * LINE;
            int page = KvPages.of(step, layer, pages, row, start);
            int value = KvPages.value(page, kvHeads, kvHead, headDim, start);
            for (int left = 0; left < headDim; left += columns) {
                int d = left + lane % columns;
                int at = value + Math.min(d, headDim - 1);
                float s0 = 0f;
                float s1 = 0f;
                float s2 = 0f;
                float s3 = 0f;
                int t = from;
                for (; t + LOADS <= until; t += LOADS) {
                    for (int j = 0; j < LOADS; j++) {
                        if (format == WeightFormat.F32) {
                            floats[j] = values.get(at + (t + j) * headDim);
                        } else {
                            bits[j] = shortValues.get(at + (t + j) * headDim);
                        }
                    }
                    item.localBarrier();
                    for (int j = 0; j < LOADS; j++) {
                        float v = KvFormat.value(format, floats[j], bits[j], powers);
                        s0 = Fused.fma(shared[h0 + t + j], v, s0);
                        if (each > 1) {
                            s1 = Fused.fma(shared[h1 + t + j], v, s1);
                        }
                        if (each > 2) {
                            s2 = Fused.fma(shared[h2 + t + j], v, s2);
                        }
                        if (each > 3) {
                            s3 = Fused.fma(shared[h3 + t + j], v, s3);
                        }
                    }
                }
                for (; t < until; t++) {
                    float v = KvFormat.load(format, values, shortValues, powers, at + t * headDim);
                    s0 = Fused.fma(shared[h0 + t], v, s0);
                    if (each > 1) {
                        s1 = Fused.fma(shared[h1 + t], v, s1);
                    }
                    if (each > 2) {
                        s2 = Fused.fma(shared[h2 + t], v, s2);
                    }
                    if (each > 3) {
                        s3 = Fused.fma(shared[h3 + t], v, s3);
                    }
                }
                if (side < sides && d < headDim) {
                    int out = ((line + side) * slices + slice) * headDim + d;
                    int apart = sides * slices * headDim;
                    if (side < own) {
                        sums.set(out, s0);
                    }
                    if (each > 1 && side + sides < own) {
                        sums.set(out + apart, s1);
                    }
                    if (each > 2 && side + 2 * sides < own) {
                        sums.set(out + 2 * apart, s2);
                    }
                    if (each > 3 && side + 3 * sides < own) {
                        sums.set(out + 3 * apart, s3);
                    }
                }
            }
        }
    }

    /** {@link AttentionKernels#finishOutputs}: a group has elements of one row. */
    public static void finishOutputs(
            KernelContext item,
            FloatArray sums,
            IntArray step,
            FloatArray out,
            int heads,
            int headDim,
            int context,
            int window) {
        float[] ahead = new float[SUMS];
        int width = heads * headDim;
        int row = item.groupIdx / tiles(width);
        int i = item.groupIdx % tiles(width) * GROUP + (item.localIdx & (GROUP - 1));
        if (row < step.get(Step.ROWS)) {
            int element = Math.min(i, width - 1) & Integer.MAX_VALUE;
            int line = row * heads + element / headDim;
            int at = line * Slices.count(context) * headDim + element % headDim;
            int length = step.get(Step.position(row)) + 1;
            int end = Slices.count(length);
            float total = 0f;
            for (int slice = Window.first(length, window) / Slices.SIZE; slice < end; slice += SUMS) {
                for (int j = 0; j < SUMS; j++) {
                    ahead[j] = sums.get(at + Math.min(slice + j, end - 1) * headDim);
                }
                item.localBarrier();
                for (int j = 0; j < SUMS; j++) {
                    if (slice + j < end) {
                        total += ahead[j];
                    }
                }
            }
            if (i < width) {
                out.set(row * width + i, total);
            }
        }
    }
}
