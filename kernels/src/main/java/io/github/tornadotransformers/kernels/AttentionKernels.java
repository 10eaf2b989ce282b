package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * Causal grouped-query attention over the cache: row r, at position p of its sequence, sees the last {@code window} of the
 * positions 0 to p; a window of the whole context is none. Query head h reads key/value head h / headsPerKvHead. Rows may be of
 * different sequences: {@link Step} has each row's position and pages.
 *
 * <p>Shapes: scores [rows][heads][context], of which the positions that are seen are defined; keys and values as {@link KvPages}
 * has them; slice results [rows][heads][slices of context], then [headDim] for outputs.
 *
 * <p>Source: Vaswani et al. 2017, arXiv:1706.03762; Ainslie et al. 2023, arXiv:2305.13245.
 */
public final class AttentionKernels {
    private AttentionKernels() {}

    /**
     * scores[r][h][t] = (sum_d query[r][h][d] * key[h'][t][d]) * scale, softly capped where there is a cap, for every
     * position t that is seen.
     *
     * <p>Order: r, h and t parallel, t contiguous in keys and scores; d left to right.
     *
     * @param pages of a layer
     * @param format of the keys, as {@link KvFormat} has them
     * @param cap 0 for none
     * @param inverseCap 1 / cap, rounded once
     */
    public static void scaledScores(
            FloatArray qkv,
            FloatArray keys,
            ShortArray shortKeys,
            FloatArray powers,
            IntArray layer,
            IntArray step,
            FloatArray scores,
            int rows,
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
        for (@Parallel int i = 0; i < rows * heads * context; i++) {
            int t = i % context;
            int head = i / context % heads;
            int row = i / context / heads;
            int position = step.get(Step.position(row));
            if (row < step.get(Step.ROWS) && t <= position && t + window > position) {
                int kvHeads = heads / headsPerKvHead;
                int query = (row * (heads + 2 * kvHeads) + head) * headDim;
                int page = KvPages.of(step, layer, pages, row, t);
                int key = KvPages.key(page, kvHeads, head / headsPerKvHead, headDim, 0, t);
                float sum = 0f;
                for (int d = 0; d < headDim; d++) {
                    float k = KvFormat.load(format, keys, shortKeys, powers, key + d * Slices.SIZE);
                    sum = Fused.fma(qkv.get(query + d), k, sum);
                }
                scores.set(i, KernelMath.scaled(math, sum, scale, cap, inverseCap));
            }
        }
    }

    /** maxima[r][h][s] = max over slice s of scores[r][h][t], t seen. Order: r, h and s parallel; a maximum has no order. */
    public static void sliceMaxima(
            FloatArray scores, IntArray step, FloatArray maxima, int rows, int heads, int context, int window) {
        for (@Parallel int i = 0; i < rows * heads * Slices.count(context); i++) {
            int start = i % Slices.count(context) * Slices.SIZE;
            int line = i / Slices.count(context);
            int row = line / heads;
            int length = step.get(Step.position(row)) + 1;
            int first = Window.first(length, window);
            if (row < step.get(Step.ROWS) && start < length && start + Slices.SIZE > first) {
                int from = Math.max(start, first);
                float max = scores.get(line * context + from);
                for (int t = from + 1; t < Math.min(start + Slices.SIZE, length); t++) {
                    float score = scores.get(line * context + t);
                    max = score > max ? score : max;
                }
                maxima.set(i, max);
            }
        }
    }

    /**
     * scores[r][h][t] = exp(scores[r][h][t] - max), in place, and sums[r][h][s] = their sum over slice s, t seen.
     *
     * <p>Order: r, h and s parallel; t left to right; each work item takes the maximum of the slices' maxima again.
     */
    public static void sliceExponentials(
            FloatArray scores,
            FloatArray maxima,
            IntArray step,
            FloatArray sums,
            int rows,
            int heads,
            int context,
            int window,
            int math) {
        for (@Parallel int i = 0; i < rows * heads * Slices.count(context); i++) {
            int start = i % Slices.count(context) * Slices.SIZE;
            int line = i / Slices.count(context);
            int row = line / heads;
            int length = step.get(Step.position(row)) + 1;
            int first = Window.first(length, window);
            if (row < step.get(Step.ROWS) && start < length && start + Slices.SIZE > first) {
                int slices = line * Slices.count(context);
                float max = max(maxima, slices + first / Slices.SIZE, slices + Slices.count(length));
                float sum = 0f;
                for (int t = Math.max(start, first); t < Math.min(start + Slices.SIZE, length); t++) {
                    float exponential = KernelMath.exp(math, scores.get(line * context + t) - max);
                    scores.set(line * context + t, exponential);
                    sum += exponential;
                }
                sums.set(i, sum);
            }
        }
    }

    /**
     * exponentials[h][t] = exp(scores[h][t] - max), and sums[h][s] = their sum over slice s, for a single row, t seen: {@link
     * #sliceMaxima} and {@link #sliceExponentials} in one kernel. As other work items still read the scores, it has an output.
     *
     * <p>Order: h and s parallel; t left to right; each work item takes the maximum of all scores.
     */
    public static void rowExponentials(
            FloatArray scores,
            IntArray step,
            FloatArray exponentials,
            FloatArray sums,
            int heads,
            int context,
            int window,
            int math) {
        for (@Parallel int i = 0; i < heads * Slices.count(context); i++) {
            int start = i % Slices.count(context) * Slices.SIZE;
            int line = i / Slices.count(context) * context;
            int length = step.get(Step.position(0)) + 1;
            int first = Window.first(length, window);
            if (start < length && start + Slices.SIZE > first) {
                float max = max(scores, line + first, line + length);
                float sum = 0f;
                for (int t = Math.max(start, first); t < Math.min(start + Slices.SIZE, length); t++) {
                    float exponential = KernelMath.exp(math, scores.get(line + t) - max);
                    exponentials.set(line + t, exponential);
                    sum += exponential;
                }
                sums.set(i, sum);
            }
        }
    }

    private static float max(FloatArray values, int first, int end) {
        float max = values.get(first);
        for (int i = first + 1; i < end; i++) {
            float value = values.get(i);
            max = value > max ? value : max;
        }
        return max;
    }

    /**
     * scores[r][h][t] = scores[r][h][t] / sum_s sums[r][h][s], in place, for t seen: probabilities.
     *
     * <p>Order: r, h and t parallel, t contiguous; s left to right, again in each work item.
     */
    public static void divideByTotals(
            FloatArray sums, IntArray step, FloatArray scores, int rows, int heads, int context, int window, int math) {
        for (@Parallel int i = 0; i < rows * heads * context; i++) {
            int t = i % context;
            int line = i / context;
            int row = line / heads;
            int length = step.get(Step.position(row)) + 1;
            int first = Window.first(length, window);
            if (row < step.get(Step.ROWS) && t < length && t >= first) {
                int slice = first / Slices.SIZE;
                int slices = Slices.count(length) - slice;
                float total = Slices.total(sums, line * Slices.count(context) + slice, 1, slices);
                scores.set(i, KernelMath.quotient(math, scores.get(i), total));
            }
        }
    }

    /**
     * sums[r][h][s][d] = sum over slice s of probabilities[r][h][t] * value[h'][t][d], t seen.
     *
     * <p>Order: r, h, s and d parallel, d contiguous in values and sums; t left to right. A slice is a page.
     *
     * @param pages of a layer
     * @param format of the values, as {@link KvFormat} has them
     */
    public static void sliceOutputs(
            FloatArray probabilities,
            FloatArray values,
            ShortArray shortValues,
            FloatArray powers,
            IntArray layer,
            IntArray step,
            FloatArray sums,
            int rows,
            int heads,
            int headsPerKvHead,
            int headDim,
            int context,
            int pages,
            int format,
            int window) {
        for (@Parallel int i = 0; i < rows * heads * (Slices.count(context) * headDim); i++) {
            int d = i % headDim;
            int start = i / headDim % Slices.count(context) * Slices.SIZE;
            int line = i / headDim / Slices.count(context);
            int head = line % heads;
            int row = line / heads;
            int length = step.get(Step.position(row)) + 1;
            int first = Window.first(length, window);
            if (row < step.get(Step.ROWS) && start < length && start + Slices.SIZE > first) {
                int kvHeads = heads / headsPerKvHead;
                int page = KvPages.of(step, layer, pages, row, start);
                int value = KvPages.value(page, kvHeads, head / headsPerKvHead, headDim, start) + d;
                float sum = 0f;
                for (int t = Math.max(start, first); t < Math.min(start + Slices.SIZE, length); t++) {
                    float v = KvFormat.load(format, values, shortValues, powers, value + (t - start) * headDim);
                    sum = Fused.fma(probabilities.get(line * context + t), v, sum);
                }
                sums.set(i, sum);
            }
        }
    }

    /**
     * out[r][h][d] = sum_s sums[r][h][s][d], over the slices that hold positions that are seen.
     *
     * <p>Order: r, h and d parallel, d contiguous; s left to right.
     */
    public static void finishOutputs(
            FloatArray sums, IntArray step, FloatArray out, int rows, int heads, int headDim, int context, int window) {
        for (@Parallel int i = 0; i < rows * heads * headDim; i++) {
            int d = i % headDim;
            int line = i / headDim;
            int row = line / heads;
            if (row < step.get(Step.ROWS)) {
                int length = step.get(Step.position(row)) + 1;
                int slice = Window.first(length, window) / Slices.SIZE;
                int first = (line * Slices.count(context) + slice) * headDim + d;
                out.set(i, Slices.total(sums, first, headDim, Slices.count(length) - slice));
            }
        }
    }
}
