package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The gradients of activations, rotation, embeddings and the loss over one whole sequence: row r stands at position r.
 *
 * <p>Error: 0 ulp against the oracle.
 */
public final class ElementGradientKernels {
    /** Floats that {@link #rowTotals} leaves for a row. */
    public static final int TOTALS = 3;

    /** The largest logit. */
    public static final int LARGEST = 0;

    /** The sum of the exponentials of what logits lie below the largest. */
    public static final int EXPONENTIALS = 1;

    /** The logit of the row's target. */
    public static final int WANTED = 2;

    private ElementGradientKernels() {}

    /**
     * dX[r][i] = dOut[r][i] * gelu'(x[r][i]); dX may be dOut.
     *
     * <p>Shapes: all [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous. Source: arXiv:1606.08415.
     */
    public static void geluGradients(
            FloatArray x, FloatArray dOut, IntArray step, FloatArray dX, int rows, int width, int math) {
        for (@Parallel int i = 0; i < rows * width; i++) {
            if (i / width < step.get(Step.ROWS)) {
                dX.set(i, dOut.get(i) * KernelMath.geluTanhSlope(math, x.get(i)));
            }
        }
    }

    /**
     * dGate[r][i] += (dOut * up) * silu'(gate) and dUp[r][i] += dOut * silu(gate).
     *
     * <p>Shapes: gateUp, dGateUp [rows][2][width]; dOut [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous. Source: arXiv:2002.05202.
     */
    public static void addToGateAndUp(
            FloatArray gateUp, FloatArray dOut, IntArray step, FloatArray dGateUp, int rows, int width, int math) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            int row = j / width;
            int gate = j + row * width;
            int up = gate + width;
            if (row < step.get(Step.ROWS)) {
                float slope = KernelMath.siluSlope(math, gateUp.get(gate));
                dGateUp.set(gate, Fused.fma(dOut.get(j) * gateUp.get(up), slope, dGateUp.get(gate)));
                dGateUp.set(up, Fused.fma(dOut.get(j), KernelMath.silu(math, gateUp.get(gate)), dGateUp.get(up)));
            }
        }
    }

    /**
     * Rotates the query and key heads of dQkv back, in place.
     *
     * <p>Shapes: dQkv [rows][heads + 2 * kvHeads][headDim]; angles [2][positions][pairs]: cosines, then sines. Pairs are elements i and i + pairs
     * of a head; those behind them stay.
     *
     * <p>Order: r, heads and pairs parallel, pairs contiguous. Source: arXiv:2104.09864.
     */
    public static void rotateBack(
            FloatArray angles,
            IntArray step,
            FloatArray dQkv,
            int rows,
            int heads,
            int kvHeads,
            int headDim,
            int pairs,
            int positions) {
        for (@Parallel int i = 0; i < rows * (heads + kvHeads) * pairs; i++) {
            int pair = i % pairs;
            int head = i / pairs % (heads + kvHeads);
            int row = i / pairs / (heads + kvHeads);
            if (row < step.get(Step.ROWS)) {
                int first = (row * (heads + 2 * kvHeads) + head) * headDim + pair;
                float cosine = angles.get(row * pairs + pair);
                float sine = angles.get((positions + row) * pairs + pair);
                float left = dQkv.get(first);
                float right = dQkv.get(first + pairs);
                dQkv.set(first, Fused.fma(left, cosine, Fused.product(right, sine)));
                dQkv.set(first + pairs, Fused.fma(right, cosine, Fused.product(Fused.negated(left), sine)));
            }
        }
    }

    /**
     * dTable[i][tokens[r]] += dOut[r][i].
     *
     * <p>Shapes: dOut [rows][width]; dTable [width][vocabSize].
     *
     * <p>Order: i parallel; r in ascending order, as a token may come again.
     *
     * @param one 1, which makes the bound an expression
     */
    public static void addToTokens(
            IntArray tokens, FloatArray dOut, IntArray step, FloatArray dTable, int one, int width, int vocabSize) {
        for (@Parallel int i = 0; i < one * width; i++) {
            for (int r = 0; r < step.get(Step.ROWS); r++) {
                int of = i * vocabSize + tokens.get(r);
                dTable.set(of, dTable.get(of) + dOut.get(r * width + i));
            }
        }
    }

    /**
     * dX[r][i] += dOut[r][i]: the gradient of a table of positions, or of rows that were copied.
     *
     * <p>Shapes: both [rows][width], the rows of dX that are not of tokens aside. Order: r and i parallel, i contiguous.
     */
    public static void addRows(FloatArray dOut, IntArray step, FloatArray dX, int rows, int width) {
        for (@Parallel int i = 0; i < rows * width; i++) {
            if (i / width < step.get(Step.ROWS)) {
                dX.set(i, dX.get(i) + dOut.get(i));
            }
        }
    }

    /**
     * totals[r] = the largest logit m of the row, sum_c exp(logits[r][c] - m), and logits[r][targets[r]]: the loss of the row is
     * log(sum) + (m - wanted).
     *
     * <p>Shapes: logits [rows][vocabSize]; totals [rows][{@link #TOTALS}].
     *
     * <p>Order: r parallel; the sum over c is sliced.
     *
     * @param one 1, which makes the bound an expression
     */
    public static void rowTotals(
            FloatArray logits,
            IntArray targets,
            IntArray step,
            FloatArray totals,
            int one,
            int rows,
            int vocabSize,
            int math) {
        for (@Parallel int row = 0; row < one * rows; row++) {
            if (row < step.get(Step.ROWS)) {
                int first = row * vocabSize;
                float max = logits.get(first);
                for (int c = 1; c < vocabSize; c++) {
                    float logit = logits.get(first + c);
                    max = logit > max ? logit : max;
                }
                float sum = 0f;
                for (int start = 0; start < vocabSize; start += Slices.SIZE) {
                    float slice = 0f;
                    for (int c = start; c < Math.min(start + Slices.SIZE, vocabSize); c++) {
                        slice += KernelMath.exp(math, logits.get(first + c) - max);
                    }
                    sum += slice;
                }
                totals.set(row * TOTALS + LARGEST, max);
                totals.set(row * TOTALS + EXPONENTIALS, sum);
                totals.set(row * TOTALS + WANTED, logits.get(first + targets.get(row)));
            }
        }
    }

    /**
     * dLogits[r][c] = (exp(logits[r][c] - m) / sum - (c == targets[r] ? 1 : 0)) * scale[0], with the row's {@link #rowTotals}: the
     * gradient of the mean cross-entropy; dLogits may be logits.
     *
     * <p>Shapes: logits, dLogits [rows][vocabSize]; scale [1].
     *
     * <p>Order: r and c parallel, c contiguous.
     */
    public static void logitGradients(
            FloatArray logits,
            FloatArray totals,
            IntArray targets,
            FloatArray scale,
            IntArray step,
            FloatArray dLogits,
            int rows,
            int vocabSize,
            int math) {
        for (@Parallel int i = 0; i < rows * vocabSize; i++) {
            int row = i / vocabSize;
            if (row < step.get(Step.ROWS)) {
                float exponential = KernelMath.exp(math, logits.get(i) - totals.get(row * TOTALS + LARGEST));
                float p = KernelMath.quotient(math, exponential, totals.get(row * TOTALS + EXPONENTIALS));
                float wanted = i - row * vocabSize == targets.get(row) ? 1f : 0f;
                dLogits.set(i, (p - wanted) * scale.get(0));
            }
        }
    }
}
