package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The slice sums of {@link StoredKernels} for a single row, of blocks, by groups of {@value #GROUP} work items. */
public final class StoredGroupKernels {
    /** Work items of a group: each brings an input of the slice, and owns a column. */
    public static final int GROUP = Slices.SIZE;

    /** Rows whose words an item has on their way from memory at once. */
    public static final int ROWS = 64;

    /** Words of so many rows, at most. */
    private static final int WORDS = 16;

    private static final int HIGH_WORDS = 4;
    private static final int BLOCKS = 4;

    private StoredGroupKernels() {}

    /** Work items for so many columns. */
    public static int items(int inputs, int columns) {
        return Slices.count(inputs) * tiles(columns) * GROUP;
    }

    /** Groups that have all columns. */
    private static int tiles(int columns) {
        return (columns + GROUP - 1) / GROUP;
    }

    /**
     * sums[s][firstColumn + c] = sum over slice s of x[k] * w[layer][k][c].
     *
     * <p>Shapes: x [inputs]; sums [slices][width].
     *
     * <p>Order: a group has a slice and neighbouring columns, an item one of them; k as in {@link StoredKernels#sliceSums}. The slice of x is in
     * local memory, and so are the sums of the blocks' inputs, which all columns share.
     */
    public static void sliceSums(
            KernelContext context,
            FloatArray x,
            FloatArray floats,
            IntArray words,
            IntArray places,
            IntArray layer,
            FloatArray sums,
            int format,
            int inputs,
            int firstColumn,
            int columns,
            int width) {
        float[] slice = context.allocateFloatLocalArray(GROUP);
        float[] ofBlocks = context.allocateFloatLocalArray(GROUP);
        int[] low = new int[WORDS];
        int[] high = new int[HIGH_WORDS];
        float[] scales = new float[BLOCKS];
        float[] minima = new float[BLOCKS];
        int start = context.groupIdx / tiles(columns) * Slices.SIZE;
        int terms = Math.min(Slices.SIZE, inputs - start);
        int column = context.groupIdx % tiles(columns) * GROUP + context.localIdx;
        int own = Math.min(column, columns - 1);
        int firstWord = places.get(2 * layer.get(0));
        int firstFloat = places.get(2 * layer.get(0) + 1);
        int block = StoredFormat.block(format);
        int perWord = StoredFormat.rowsOfWord(format);
        if (context.localIdx < terms) {
            slice[context.localIdx] = x.get(start + context.localIdx);
        }
        context.localBarrier();
        if (StoredFormat.hasMinimum(format)) {
            float all = 0f;
            int first = context.localIdx * block;
            for (int k = first; k < Math.min(first + block, terms); k++) {
                all += slice[k];
            }
            ofBlocks[context.localIdx] = all;
            context.localBarrier();
        }
        float sum = 0f;
        int k = 0;
        for (; k + ROWS <= terms; k += ROWS) {
            int row = start + k;
            int at = firstWord + row / perWord * columns + own;
            for (int j = 0; j < ROWS / perWord; j++) {
                low[j] = words.get(at + j * columns);
            }
            int above = firstWord + StoredFormat.highWord(format, inputs, row) * columns + own;
            for (int j = 0; j < StoredFormat.highWords(format, ROWS); j++) {
                high[j] = words.get(above + j * columns);
            }
            for (int b = 0; b < ROWS / block; b++) {
                scales[b] = StoredFormat.scale(
                        format, floats, words, firstWord, firstFloat, inputs, columns, row + b * block, own);
            }
            if (StoredFormat.hasMinimum(format)) {
                for (int b = 0; b < ROWS / block; b++) {
                    minima[b] = StoredFormat.minimum(
                            format, floats, words, firstWord, firstFloat, inputs, columns, row + b * block, own);
                }
            }
            context.localBarrier();
            for (int b = 0; b < ROWS / block; b++) {
                float part = 0f;
                for (int j = 0; j < block / perWord; j++) {
                    int first = b * block + j * perWord;
                    int lows = low[first / perWord];
                    int highs =
                            StoredFormat.highsFrom(format, high[first / StoredFormat.rowsOfHighWord(format)], first);
                    for (int i = 0; i < perWord; i++) {
                        part = Fused.fma(slice[k + first + i], StoredFormat.quant(format, lows, highs, i), part);
                    }
                }
                sum = Fused.fma(part, scales[b], sum);
                if (StoredFormat.hasMinimum(format)) {
                    sum = Fused.fma(ofBlocks[k / block + b], minima[b], sum);
                }
            }
        }
        for (; k < terms; k += block) {
            int row = start + k;
            float part = 0f;
            for (int i = 0; i < block; i++) {
                float w = StoredFormat.quantAt(format, words, firstWord, inputs, columns, row + i, own);
                part = Fused.fma(slice[k + i], w, part);
            }
            float scale = StoredFormat.scale(format, floats, words, firstWord, firstFloat, inputs, columns, row, own);
            sum = Fused.fma(part, scale, sum);
            if (StoredFormat.hasMinimum(format)) {
                float minimum =
                        StoredFormat.minimum(format, floats, words, firstWord, firstFloat, inputs, columns, row, own);
                sum = Fused.fma(ofBlocks[k / block], minimum, sum);
            }
        }
        if (column < columns) {
            sums.set(start / Slices.SIZE * width + firstColumn + column, sum);
        }
    }
}
