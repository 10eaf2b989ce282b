package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The slice sums of {@link LinearKernels} for a single row, by groups of {@value #GROUP} work items: sums[s][c] = sum over slice s of x[k] *
 * w[layer][k][c].
 *
 * <p>Shapes: x [inputs]; sums [slices][columns]; weights as {@link LinearKernels} has them.
 *
 * <p>Order: a group has a slice and neighbouring words, an item one word of each row: a column of float32, two of 16 bits, four of 8; or
 * one column, where rows are not whole words. k as in {@link LinearKernels#sliceSums}.
 *
 * <p>An item has {@value #LOADS} words or more on their way from memory at once: it keeps them in an array, which compilers turn into
 * registers, and then comes to a barrier, behind which no compiler puts off a load. The slice of x is in local memory.
 */
public final class LinearGroupKernels {
    /** Work items of a group: each brings an input of the slice. */
    public static final int GROUP = Slices.SIZE;

    private static final int LOADS = 16;
    private static final int PAIR = 2;
    private static final int QUAD = 4;
    private static final int BLOCK = WeightFormat.INT8_BLOCK;

    private LinearGroupKernels() {}

    /** Columns of an item: those of a word; 1 where words hold ends of two rows. */
    public static int columnsOfItem(int format, int columns) {
        int perWord = WeightFormat.perWord(format);
        return columns % perWord == 0 ? perWord : 1;
    }

    /** Work items of the kernel for a format. */
    public static int items(int format, int inputs, int columns) {
        return Slices.count(inputs) * tiles(columns / columnsOfItem(format, columns)) * GROUP;
    }

    /** Groups that have the words of a row. */
    private static int tiles(int words) {
        return (words + GROUP - 1) / GROUP;
    }

    /** For {@link WeightFormat#F32}. */
    public static void sliceSums(
            KernelContext context,
            FloatArray x,
            FloatArray weight,
            IntArray layer,
            FloatArray sums,
            int inputs,
            int columns) {
        float[] slice = context.allocateFloatLocalArray(GROUP);
        float[] w = new float[LOADS];
        int start = context.groupIdx / tiles(columns) * Slices.SIZE;
        int terms = Math.min(Slices.SIZE, inputs - start);
        int column = context.groupIdx % tiles(columns) * GROUP + context.localIdx;
        int at = (layer.get(0) * inputs + start) * columns + Math.min(column, columns - 1);
        if (context.localIdx < terms) {
            slice[context.localIdx] = x.get(start + context.localIdx);
        }
        context.localBarrier();
        float sum = 0f;
        int k = 0;
        for (; k + LOADS <= terms; k += LOADS) {
            int first = at + k * columns;
            for (int j = 0; j < LOADS; j++) {
                w[j] = weight.get(first + j * columns);
            }
            context.localBarrier();
            for (int j = 0; j < LOADS; j++) {
                sum = Fused.fma(slice[k + j], w[j], sum);
            }
        }
        for (; k < terms; k++) {
            sum = Fused.fma(slice[k], weight.get(at + k * columns), sum);
        }
        if (column < columns) {
            sums.set(start / Slices.SIZE * columns + column, sum);
        }
    }

    /** For {@link WeightFormat#BF16}, {@link WeightFormat#F16} and {@link WeightFormat#BF16_BITS}. */
    public static void sliceSumsOfPairs(
            KernelContext context,
            FloatArray x,
            IntArray words,
            FloatArray powers,
            IntArray layer,
            FloatArray sums,
            int format,
            int inputs,
            int columns) {
        float[] slice = context.allocateFloatLocalArray(GROUP);
        int[] w = new int[LOADS];
        int row = columns / PAIR;
        int start = context.groupIdx / tiles(row) * Slices.SIZE;
        int terms = Math.min(Slices.SIZE, inputs - start);
        int word = context.groupIdx % tiles(row) * GROUP + context.localIdx;
        int at = (layer.get(0) * inputs + start) * row + Math.min(word, row - 1);
        if (context.localIdx < terms) {
            slice[context.localIdx] = x.get(start + context.localIdx);
        }
        context.localBarrier();
        float left = 0f;
        float right = 0f;
        int k = 0;
        for (; k + LOADS <= terms; k += LOADS) {
            int first = at + k * row;
            for (int j = 0; j < LOADS; j++) {
                w[j] = words.get(first + j * row);
            }
            context.localBarrier();
            for (int j = 0; j < LOADS; j++) {
                left = Fused.fma(slice[k + j], WeightFormat.half(format, w[j], 0, powers), left);
                right = Fused.fma(slice[k + j], WeightFormat.half(format, w[j], 16, powers), right);
            }
        }
        for (; k < terms; k++) {
            int pair = words.get(at + k * row);
            left = Fused.fma(slice[k], WeightFormat.half(format, pair, 0, powers), left);
            right = Fused.fma(slice[k], WeightFormat.half(format, pair, 16, powers), right);
        }
        if (word < row) {
            int out = start / Slices.SIZE * columns + PAIR * word;
            sums.set(out, left);
            sums.set(out + 1, right);
        }
    }

    /** For {@link WeightFormat#INT8}. */
    public static void sliceSumsOfQuads(
            KernelContext context,
            FloatArray x,
            IntArray words,
            FloatArray scales,
            IntArray layer,
            FloatArray sums,
            int inputs,
            int columns) {
        float[] slice = context.allocateFloatLocalArray(GROUP);
        int[] w = new int[BLOCK];
        int row = columns / QUAD;
        int start = context.groupIdx / tiles(row) * Slices.SIZE;
        int terms = Math.min(Slices.SIZE, inputs - start);
        int word = context.groupIdx % tiles(row) * GROUP + context.localIdx;
        int own = Math.min(word, row - 1);
        int at = (layer.get(0) * inputs + start) * row + own;
        int scale = (layer.get(0) * WeightFormat.blocks(inputs) + start / BLOCK) * columns + QUAD * own;
        if (context.localIdx < terms) {
            slice[context.localIdx] = x.get(start + context.localIdx);
        }
        context.localBarrier();
        float s0 = 0f;
        float s1 = 0f;
        float s2 = 0f;
        float s3 = 0f;
        int k = 0;
        for (; k + BLOCK <= terms; k += BLOCK) {
            int first = at + k * row;
            for (int j = 0; j < BLOCK; j++) {
                w[j] = words.get(first + j * row);
            }
            context.localBarrier();
            float p0 = 0f;
            float p1 = 0f;
            float p2 = 0f;
            float p3 = 0f;
            for (int j = 0; j < BLOCK; j++) {
                p0 = Fused.fma(slice[k + j], WeightFormat.octet(w[j], 0), p0);
            }
            for (int j = 0; j < BLOCK; j++) {
                p1 = Fused.fma(slice[k + j], WeightFormat.octet(w[j], 8), p1);
            }
            for (int j = 0; j < BLOCK; j++) {
                p2 = Fused.fma(slice[k + j], WeightFormat.octet(w[j], 16), p2);
            }
            for (int j = 0; j < BLOCK; j++) {
                p3 = Fused.fma(slice[k + j], WeightFormat.octet(w[j], 24), p3);
            }
            s0 = Fused.fma(p0, scales.get(scale), s0);
            s1 = Fused.fma(p1, scales.get(scale + 1), s1);
            s2 = Fused.fma(p2, scales.get(scale + 2), s2);
            s3 = Fused.fma(p3, scales.get(scale + 3), s3);
            scale += columns;
        }
        if (k < terms) {
            float p0 = 0f;
            float p1 = 0f;
            float p2 = 0f;
            float p3 = 0f;
            for (; k < terms; k++) {
                int quad = words.get(at + k * row);
                p0 = Fused.fma(slice[k], WeightFormat.octet(quad, 0), p0);
                p1 = Fused.fma(slice[k], WeightFormat.octet(quad, 8), p1);
                p2 = Fused.fma(slice[k], WeightFormat.octet(quad, 16), p2);
                p3 = Fused.fma(slice[k], WeightFormat.octet(quad, 24), p3);
            }
            s0 = Fused.fma(p0, scales.get(scale), s0);
            s1 = Fused.fma(p1, scales.get(scale + 1), s1);
            s2 = Fused.fma(p2, scales.get(scale + 2), s2);
            s3 = Fused.fma(p3, scales.get(scale + 3), s3);
        }
        if (word < row) {
            int out = start / Slices.SIZE * columns + QUAD * word;
            sums.set(out, s0);
            sums.set(out + 1, s1);
            sums.set(out + 2, s2);
            sums.set(out + 3, s3);
        }
    }

    /**
     * For every format of words, whose rows may begin within one: what of a word is an item's repeats after as many rows as a word has
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
