package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The slice sums of {@link LinearKernels} for a single row of a matrix whose rows are not whole words, by groups of {@value #GROUP} work items; where
 * they are, {@link LinearRowKernels} does without these sums.
 *
 * <p>Shapes: x [inputs]; sums [slices][columns]; weights as {@link LinearKernels} has them.
 *
 * <p>Order: a group has a slice and neighbouring columns, an item one column. k as in {@link LinearKernels#sliceSums}.
 *
 * <p>An item has {@value #LOADS} words on their way from memory at once: it keeps them in an array, which compilers turn into
 * registers, and then comes to a barrier, behind which no compiler puts off a load. The slice of x is in local memory.
 */
public final class LinearGroupKernels {
    /** Work items of a group: each brings an input of the slice. */
    public static final int GROUP = Slices.SIZE;

    private static final int LOADS = 16;

    private LinearGroupKernels() {}

    /** Work items. */
    public static int items(int inputs, int columns) {
        return Slices.count(inputs) * tiles(columns) * GROUP;
    }

    /** Groups that have the columns. */
    private static int tiles(int columns) {
        return (columns + GROUP - 1) / GROUP;
    }

    /**
     * For every format of words: what of a word is an item's repeats after as many rows as a word has
     * elements.
     */
    public static void sliceSumsOfElements(
            KernelContext context,
            FloatArray x,
            IntArray words,
            FloatArray scales,
            FloatArray powers,
            IntArray layer,
            FloatArray sums,
            int format,
            int inputs,
            int columns) {
        float[] slice = context.allocateFloatLocalArray(GROUP);
        int[] w = new int[LOADS];
        int perWord = WeightFormat.perWord(format);
        int block = WeightFormat.block(format);
        int start = context.groupIdx / tiles(columns) * Slices.SIZE;
        int terms = Math.min(Slices.SIZE, inputs - start);
        int column = context.groupIdx % tiles(columns) * GROUP + context.localIdx;
        int own = Math.min(column, columns - 1);
        int at = (layer.get(0) * inputs + start) * columns + own;
        int firstBlock = layer.get(0) * WeightFormat.blocks(inputs);
        if (context.localIdx < terms) {
            slice[context.localIdx] = x.get(start + context.localIdx);
        }
        context.localBarrier();
        float sum = 0f;
        float part = 0f;
        int summed = start;
        int k = 0;
        for (; k + LOADS <= terms; k += LOADS) {
            int first = at + k * columns;
            for (int j = 0; j < LOADS; j++) {
                int element = (first + j % perWord * columns) & Integer.MAX_VALUE;
                w[j] = words.get(element / perWord + j / perWord * columns);
            }
            context.localBarrier();
            for (int j = 0; j < LOADS; j++) {
                int place = ((first + j % perWord * columns) & Integer.MAX_VALUE) % perWord;
                part = Fused.fma(slice[k + j], WeightFormat.part(format, w[j], place, powers), part);
            }
            if ((k + LOADS) % block == 0) {
                float scale = WeightFormat.scale(format, scales, firstBlock, summed, columns, own);
                sum = Fused.fma(part, scale, sum);
                summed += block;
                part = 0f;
            }
        }
        for (; k < terms; k++) {
            int element = (at + k * columns) & Integer.MAX_VALUE;
            float value = WeightFormat.part(format, words.get(element / perWord), element % perWord, powers);
            part = Fused.fma(slice[k], value, part);
        }
        if (k % block != 0) {
            float scale = WeightFormat.scale(format, scales, firstBlock, summed, columns, own);
            sum = Fused.fma(part, scale, sum);
        }
        if (column < columns) {
            sums.set(start / Slices.SIZE * columns + column, sum);
        }
    }
}
