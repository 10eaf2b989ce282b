package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * The end of the fused projection, in one kernel: slices are added up and the bias, as in {@link LinearKernels#finish}; queries
 * and keys rotated, as in {@link RotaryKernels}; keys and values stored in the cache, as in {@link CacheKernels}. Keys and values
 * of {@code qkv} are not written.
 *
 * <p>Shapes: sums [rows][slices][(heads + 2 kvHeads) headDim]; bias [layers][(heads + 2 kvHeads) headDim]; qkv [rows][(heads + 2
 * kvHeads) headDim]; keys and values as {@link KvPages} has them.
 */
public final class QkvKernels {
    private QkvKernels() {}

    /**
     * Without rotation.
     *
     * <p>Order: r and element parallel, elements contiguous in sums; slices left to right.
     *
     * @param pages of a layer
     * @param format of keys and values, as {@link KvFormat} has them
     * @param biased 1 to add the bias
     */
    public static void finish(
            FloatArray sums,
            FloatArray bias,
            IntArray layer,
            IntArray step,
            FloatArray qkv,
            FloatArray keys,
            FloatArray values,
            ShortArray shortKeys,
            ShortArray shortValues,
            FloatArray bounds,
            int rows,
            int slices,
            int heads,
            int kvHeads,
            int headDim,
            int pages,
            int format,
            int biased) {
        for (@Parallel int i = 0; i < rows * ((heads + 2 * kvHeads) * headDim); i++) {
            int width = (heads + 2 * kvHeads) * headDim;
            int column = i % width;
            int row = i / width;
            if (row < step.get(Step.ROWS)) {
                float y = finished(sums, bias, layer, row, slices, width, column, biased);
                store(
                        qkv,
                        keys,
                        values,
                        shortKeys,
                        shortValues,
                        bounds,
                        layer,
                        step,
                        row,
                        column,
                        heads,
                        kvHeads,
                        headDim,
                        pages,
                        format,
                        y);
            }
        }
    }

    /**
     * With rotation of pairs (a, b), half a head apart, to (a cos - b sin, b cos + a sin) in query and key heads.
     *
     * <p>Shapes: angles [2][positions][headDim/2], cosines then sines.
     *
     * <p>Order: r, head and pair parallel, pairs contiguous in sums; slices left to right.
     *
     * @param pages of a layer
     * @param format of keys and values, as {@link KvFormat} has them
     * @param biased 1 to add the bias
     */
    public static void finishRotated(
            FloatArray sums,
            FloatArray bias,
            FloatArray angles,
            IntArray layer,
            IntArray step,
            FloatArray qkv,
            FloatArray keys,
            FloatArray values,
            ShortArray shortKeys,
            ShortArray shortValues,
            FloatArray bounds,
            int rows,
            int slices,
            int heads,
            int kvHeads,
            int headDim,
            int positions,
            int pages,
            int format,
            int biased) {
        for (@Parallel int i = 0; i < rows * ((heads + 2 * kvHeads) * (headDim / 2)); i++) {
            int pairs = headDim / 2;
            int width = (heads + 2 * kvHeads) * headDim;
            int pair = i % pairs;
            int head = i / pairs % (heads + 2 * kvHeads);
            int row = i / pairs / (heads + 2 * kvHeads);
            if (row < step.get(Step.ROWS)) {
                int left = head * headDim + pair;
                int right = left + pairs;
                float a = finished(sums, bias, layer, row, slices, width, left, biased);
                float b = finished(sums, bias, layer, row, slices, width, right, biased);
                int angle = step.get(Step.position(row)) * pairs + pair;
                float cosine = angles.get(angle);
                float sine = angles.get(positions * pairs + angle);
                float rotatedA = Fused.fma(a, cosine, Fused.product(Fused.negated(b), sine));
                float rotatedB = Fused.fma(b, cosine, Fused.product(a, sine));
                a = head < heads + kvHeads ? rotatedA : a;
                b = head < heads + kvHeads ? rotatedB : b;
                store(
                        qkv,
                        keys,
                        values,
                        shortKeys,
                        shortValues,
                        bounds,
                        layer,
                        step,
                        row,
                        left,
                        heads,
                        kvHeads,
                        headDim,
                        pages,
                        format,
                        a);
                store(
                        qkv,
                        keys,
                        values,
                        shortKeys,
                        shortValues,
                        bounds,
                        layer,
                        step,
                        row,
                        right,
                        heads,
                        kvHeads,
                        headDim,
                        pages,
                        format,
                        b);
            }
        }
    }

    private static float finished(
            FloatArray sums, FloatArray bias, IntArray layer, int row, int slices, int width, int column, int biased) {
        float y = Slices.total(sums, row * slices * width + column, width, slices);
        return biased == 1 ? y + bias.get(layer.get(0) * width + column) : y;
    }

    /** Puts an element of the projection where attention reads it: queries come first, then keys, then values. */
    private static void store(
            FloatArray qkv,
            FloatArray keys,
            FloatArray values,
            ShortArray shortKeys,
            ShortArray shortValues,
            FloatArray bounds,
            IntArray layer,
            IntArray step,
            int row,
            int column,
            int heads,
            int kvHeads,
            int headDim,
            int pages,
            int format,
            float y) {
        int position = step.get(Step.position(row));
        int page = KvPages.of(step, layer, pages, row, position);
        int head = column / headDim;
        int d = column % headDim;
        if (head < heads) {
            qkv.set(row * (heads + 2 * kvHeads) * headDim + column, y);
        } else if (head < heads + kvHeads) {
            int key = KvPages.key(page, kvHeads, head - heads, headDim, d, position);
            KvFormat.store(format, keys, shortKeys, bounds, key, y);
        } else {
            int value = KvPages.value(page, kvHeads, head - heads - kvHeads, headDim, position) + d;
            KvFormat.store(format, values, shortValues, bounds, value, y);
        }
    }
}
