package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/** The key-value cache. */
public final class CacheKernels {
    /** What {@link #copyPage} is told: the numbers of two pages. */
    public static final int COPY_FROM = 0;

    public static final int COPY_TO = 1;

    private CacheKernels() {}

    /**
     * Stores key[r][head][d] and value[r][head][d] at the position of row r.
     *
     * <p>Shapes: qkv [rows][(heads + 2 kvHeads) headDim]; keys and values as {@link KvPages} has them.
     *
     * <p>Order: r, head and d parallel, d contiguous in qkv and values. Rows of padding are not stored.
     *
     * @param pages of a layer
     * @param format as {@link KvFormat} has it
     */
    public static void append(
            FloatArray qkv,
            IntArray layer,
            IntArray step,
            FloatArray keys,
            FloatArray values,
            ShortArray shortKeys,
            ShortArray shortValues,
            FloatArray bounds,
            int rows,
            int heads,
            int kvHeads,
            int headDim,
            int pages,
            int format) {
        for (@Parallel int i = 0; i < rows * (kvHeads * headDim); i++) {
            int d = i % headDim;
            int head = i / headDim % kvHeads;
            int row = i / headDim / kvHeads;
            if (row < step.get(Step.ROWS)) {
                int position = step.get(Step.position(row));
                int page = KvPages.of(step, layer, pages, row, position);
                int key = (row * (heads + 2 * kvHeads) + heads + head) * headDim + d;
                int toKey = KvPages.key(page, kvHeads, head, headDim, d, position);
                KvFormat.store(format, keys, shortKeys, bounds, toKey, qkv.get(key));
                int toValue = KvPages.value(page, kvHeads, head, headDim, position) + d;
                KvFormat.store(format, values, shortValues, bounds, toValue, qkv.get(key + kvHeads * headDim));
            }
        }
    }

    /**
     * Page copy[{@link #COPY_TO}] of every layer becomes what page copy[{@link #COPY_FROM}], which is another, is.
     *
     * <p>Shapes: keys, or values, as {@link KvPages} has them, in one of the arrays.
     *
     * <p>Order: layer and element of a page parallel, elements contiguous.
     *
     * @param pages of a layer
     * @param size elements of a page
     * @param format as {@link KvFormat} has it
     */
    public static void copyPage(
            FloatArray floats, ShortArray shorts, IntArray copy, int layers, int pages, int size, int format) {
        for (@Parallel int i = 0; i < layers * size; i++) {
            int layer = i / size;
            int first = layer * pages * size + i - layer * size;
            int from = first + copy.get(COPY_FROM) * size;
            int to = first + copy.get(COPY_TO) * size;
            if (format == WeightFormat.F32) {
                floats.set(to, floats.get(from));
            } else {
                shorts.set(to, shorts.get(from));
            }
        }
    }
}
