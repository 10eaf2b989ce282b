package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The key-value cache. */
public final class CacheKernels {
    private CacheKernels() {}

    /**
     * keys[layer][head][d][step[POSITION] + r] = key[r][head][d]; values[layer][head][step[POSITION] + r][d] = value[r][head][d].
     *
     * <p>Shapes: qkv [rows][(heads + 2 kvHeads) headDim]; keys [layers][kvHeads][headDim][context]; values
     * [layers][kvHeads][context][headDim]: attention reads both contiguously.
     *
     * <p>Order: r, head and d parallel, d contiguous in qkv and values. Rows of padding are not stored.
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
            int context) {
        for (@Parallel int i = 0; i < rows * (kvHeads * headDim); i++) {
            int d = i % headDim;
            int head = i / headDim % kvHeads;
            int row = i / headDim / kvHeads;
            if (row < step.get(Step.ROWS)) {
                int position = step.get(Step.POSITION) + row;
                int cached = layer.get(0) * kvHeads + head;
                int key = (row * (heads + 2 * kvHeads) + heads + head) * headDim + d;
                keys.set((cached * headDim + d) * context + position, qkv.get(key));
                values.set((cached * context + position) * headDim + d, qkv.get(key + kvHeads * headDim));
            }
        }
    }
}
