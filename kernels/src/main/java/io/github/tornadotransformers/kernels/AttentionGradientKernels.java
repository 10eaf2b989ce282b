package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The gradients of causal grouped-query attention over one whole sequence: row r, at position r, sees positions 0 to r; query
 * head h reads key/value head h' = h / headsPerKvHead. Keys and values are read where the projection left them.
 *
 * <p>Shapes: probabilities, dScores [rows][heads][context], of which [0, r] is defined; qkv, dQkv [rows][heads + 2 * kvHeads]
 * [headDim]; dOut [rows][heads][headDim].
 *
 * <p>Error: 0 ulp against the oracle.
 *
 * <p>Source: Vaswani et al. 2017, arXiv:1706.03762; Ainslie et al. 2023, arXiv:2305.13245.
 */
public final class AttentionGradientKernels {
    private AttentionGradientKernels() {}

    /**
     * dScores[r][h][t] = sum_d dOut[r][h][d] * value[h'][t][d], for t ≤ r: the gradient of the probabilities.
     *
     * <p>Order: r, h and t parallel, t contiguous in dScores; d left to right.
     */
    public static void probabilityGradients(
            FloatArray qkv,
            FloatArray dOut,
            IntArray step,
            FloatArray dScores,
            int rows,
            int heads,
            int headsPerKvHead,
            int headDim,
            int context) {
        for (@Parallel int i = 0; i < rows * heads * context; i++) {
            int t = i % context;
            int line = i / context;
            int head = line % heads;
            int row = line / heads;
            if (row < step.get(Step.ROWS) && t <= row) {
                int kvHeads = heads / headsPerKvHead;
                int value = (t * (heads + 2 * kvHeads) + heads + kvHeads + head / headsPerKvHead) * headDim;
                float sum = 0f;
                for (int d = 0; d < headDim; d++) {
                    sum = Fused.fma(dOut.get(line * headDim + d), qkv.get(value + d), sum);
                }
                dScores.set(i, sum);
            }
        }
    }

    /**
     * sums[r][h] = sum_t probabilities[r][h][t] * dScores[r][h][t], t ≤ r.
     *
     * <p>Order: r and h parallel; the sum over t is sliced.
     */
    public static void probabilitySums(
            FloatArray probabilities,
            FloatArray dScores,
            IntArray step,
            FloatArray sums,
            int rows,
            int heads,
            int context) {
        for (@Parallel int line = 0; line < rows * heads; line++) {
            int row = line / heads;
            if (row < step.get(Step.ROWS)) {
                float sum = 0f;
                for (int start = 0; start < row + 1; start += Slices.SIZE) {
                    float slice = 0f;
                    for (int t = start; t < Math.min(start + Slices.SIZE, row + 1); t++) {
                        slice = Fused.fma(
                                probabilities.get(line * context + t), dScores.get(line * context + t), slice);
                    }
                    sum += slice;
                }
                sums.set(line, sum);
            }
        }
    }

    /**
     * dScores[r][h][t] = probabilities[r][h][t] * (dScores[r][h][t] - sums[r][h]), in place, for t ≤ r.
     *
     * <p>Order: r, h and t parallel, t contiguous.
     */
    public static void scoreGradients(
            FloatArray probabilities,
            FloatArray sums,
            IntArray step,
            FloatArray dScores,
            int rows,
            int heads,
            int context) {
        for (@Parallel int i = 0; i < rows * heads * context; i++) {
            int line = i / context;
            int row = line / heads;
            if (row < step.get(Step.ROWS) && i - line * context <= row) {
                dScores.set(i, probabilities.get(i) * (dScores.get(i) - sums.get(line)));
            }
        }
    }

    /**
     * dQuery[r][h][d] += (sum_{t ≤ r} dScores[r][h][t] * key[h'][t][d]) * scale, in dQkv.
     *
     * <p>Order: r, h and d parallel, d contiguous in qkv and dQkv; the sum over t is sliced.
     */
    public static void addToQueries(
            FloatArray qkv,
            FloatArray dScores,
            IntArray step,
            FloatArray dQkv,
            int rows,
            int heads,
            int headsPerKvHead,
            int headDim,
            int context,
            float scale) {
        for (@Parallel int i = 0; i < rows * heads * headDim; i++) {
            int d = i % headDim;
            int line = i / headDim;
            int head = line % heads;
            int row = line / heads;
            if (row < step.get(Step.ROWS)) {
                int width = (heads + 2 * (heads / headsPerKvHead)) * headDim;
                int key = (heads + head / headsPerKvHead) * headDim + d;
                float sum = 0f;
                for (int start = 0; start < row + 1; start += Slices.SIZE) {
                    float slice = 0f;
                    for (int t = start; t < Math.min(start + Slices.SIZE, row + 1); t++) {
                        slice = Fused.fma(dScores.get(line * context + t), qkv.get(t * width + key), slice);
                    }
                    sum += slice;
                }
                int of = row * width + head * headDim + d;
                dQkv.set(of, Fused.fma(sum, scale, dQkv.get(of)));
            }
        }
    }

    /**
     * dKey[h'][t][d] += (sum_{r >= t} dScores[r][h][t] * query[r][h][d]) * scale, in dQkv, once for each of its query heads h.
     *
     * <p>Order: t, h' and d parallel, d contiguous in qkv and dQkv; the sum over r is sliced; h in ascending order.
     */
    public static void addToKeys(
            FloatArray qkv,
            FloatArray dScores,
            IntArray step,
            FloatArray dQkv,
            int rows,
            int heads,
            int headsPerKvHead,
            int headDim,
            int context,
            float scale) {
        for (@Parallel int i = 0; i < rows * (heads / headsPerKvHead) * headDim; i++) {
            int kvHeads = heads / headsPerKvHead;
            int d = i % headDim;
            int kvHead = i / headDim % kvHeads;
            int t = i / headDim / kvHeads;
            if (t < step.get(Step.ROWS)) {
                int width = (heads + 2 * kvHeads) * headDim;
                int of = t * width + (heads + kvHead) * headDim + d;
                float gradient = dQkv.get(of);
                for (int head = kvHead * headsPerKvHead; head < (kvHead + 1) * headsPerKvHead; head++) {
                    float sum = 0f;
                    for (int start = t / Slices.SIZE * Slices.SIZE; start < step.get(Step.ROWS); start += Slices.SIZE) {
                        float slice = 0f;
                        for (int r = Math.max(start, t); r < Math.min(start + Slices.SIZE, step.get(Step.ROWS)); r++) {
                            float score = dScores.get((r * heads + head) * context + t);
                            slice = Fused.fma(score, qkv.get(r * width + head * headDim + d), slice);
                        }
                        sum += slice;
                    }
                    gradient = Fused.fma(sum, scale, gradient);
                }
                dQkv.set(of, gradient);
            }
        }
    }

    /**
     * dValue[h'][t][d] += sum_{r >= t} probabilities[r][h][t] * dOut[r][h][d], in dQkv, once for each of its query heads h.
     *
     * <p>Order: t, h' and d parallel, d contiguous in dOut and dQkv; the sum over r is sliced; h in ascending order.
     */
    public static void addToValues(
            FloatArray probabilities,
            FloatArray dOut,
            IntArray step,
            FloatArray dQkv,
            int rows,
            int heads,
            int headsPerKvHead,
            int headDim,
            int context) {
        for (@Parallel int i = 0; i < rows * (heads / headsPerKvHead) * headDim; i++) {
            int kvHeads = heads / headsPerKvHead;
            int d = i % headDim;
            int kvHead = i / headDim % kvHeads;
            int t = i / headDim / kvHeads;
            if (t < step.get(Step.ROWS)) {
                int of = (t * (heads + 2 * kvHeads) + heads + kvHeads + kvHead) * headDim + d;
                float gradient = dQkv.get(of);
                for (int head = kvHead * headsPerKvHead; head < (kvHead + 1) * headsPerKvHead; head++) {
                    float sum = 0f;
                    for (int start = t / Slices.SIZE * Slices.SIZE; start < step.get(Step.ROWS); start += Slices.SIZE) {
                        float slice = 0f;
                        for (int r = Math.max(start, t); r < Math.min(start + Slices.SIZE, step.get(Step.ROWS)); r++) {
                            float probability = probabilities.get((r * heads + head) * context + t);
                            slice = Fused.fma(probability, dOut.get((r * heads + head) * headDim + d), slice);
                        }
                        sum += slice;
                    }
                    gradient += sum;
                }
                dQkv.set(of, gradient);
            }
        }
    }
}
