package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The key-value cache. */
public final class CacheKernels {
    private CacheKernels() {}

    /**
     * Stores key[r][head][d] and value[r][head][d] at the position of row r.
     *
     * <p>Shapes: qkv [rows][(heads + 2 kvHeads) headDim]; keys and values as {@link KvPages} has them.
     *
     * <p>Order: r, head and d parallel, d contiguous in qkv and values. Rows of padding are not stored.
     *
     * @param pages of a layer
     */
    public static void append(
            FloatArray qkv,
            IntArray layer,
            IntArray step,
            FloatArray keys,
            FloatArray values,
            int rows,
            int heads,
            int kvHeads,
            int headDim,
            int pages) {
        for (@Parallel int i = 0; i < rows * (kvHeads * headDim); i++) {
            int d = i % headDim;
            int head = i / headDim % kvHeads;
            int row = i / headDim / kvHeads;
            if (row < step.get(Step.ROWS)) {
                int position = step.get(Step.position(row));
                int page = KvPages.of(step, layer, pages, row, position);
                int key = (row * (heads + 2 * kvHeads) + heads + head) * headDim + d;
                keys.set(KvPages.key(page, kvHeads, head, headDim, d, position), qkv.get(key));
                int value = KvPages.value(page, kvHeads, head, headDim, position) + d;
                values.set(value, qkv.get(key + kvHeads * headDim));
            }
        }
    }
}
