package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * A linear layer of a single row with all that is before and behind it in one kernel: {@code y = activation(sum_k norm(x)[k] *
 * w[layer][k][c] + bias[layer][c])}, and {@code out[c] = y}, {@code out[c] += scale * y}, or {@code out[c] = y * y'}, where y' has no activation
 * and is {@code columns / 2} behind y. For matrices whose rows are whole words, and so are their halves where halves are multiplied.
 *
 * <p>Shapes: x [inputs]; out [columns], or half of them; weights as {@link LinearKernels} has them; norm's weight and bias [layers][inputs].
 *
 * <p>Order: a group has all slices of its columns, so many at once as it has {@link #lanes}: a lane is a slice, and has an item for each word
 * of a row. k as in {@link LinearKernels#sliceSums}; the slices' sums come together in local memory, where an item for each column adds them up, left to right.
 * A norm's sums are each group's own, in the order of {@link NormGroupKernels}: to compute them again takes less than to wait for another kernel.
 *
 * <p>An item has {@value #LOADS} words on their way from memory at once, {@value #TABLE_LOADS} where they are widened by a table, as {@link LinearGroupKernels} has.
 */
public final class LinearRowKernels {
    /** What becomes of x before it is multiplied. */
    public static final int NO_NORM = 0;

    public static final int LAYER_NORM = 1;
    public static final int RMS_NORM = 2;

    /** What becomes of y. */
    public static final int STORES = 0;

    public static final int ADDS = 1;
    public static final int GATES = 2;

    /** Items of a group that every device for groups has. */
    public static final int LEAST_GROUP = Slices.SIZE;

    private static final int MOST_GROUP = 512;

    /** Sums of a group at once. */
    private static final int MOST_SUMS = 1024;

    private static final int MOST_LANES = 32;

    /** Words of a row that a group has: memory is read in pieces of eight. Few groups leave processors idle. */
    private static final int WORDS = 16;

    private static final int FEW_WORDS = 8;
    private static final int ENOUGH_GROUPS = 128;

    private static final int LOADS = WeightFormat.INT8_BLOCK;

    /** Where words are widened by a table: compilers do not unroll longer loops of that, and arrays whose loops are not unrolled are in no registers. */
    private static final int TABLE_LOADS = 16;

    /** From one slice to the next in local memory: lanes that are read at once are in banks of their own, and begin at a multiple of four. */
    private static final int STRIDE = Slices.SIZE + 4;

    private LinearRowKernels() {}

    /** Whether rows, or their halves, are whole words. */
    public static boolean takes(int format, int columns, int ending) {
        return columns % (ending == GATES ? 2 * WeightFormat.perWord(format) : WeightFormat.perWord(format)) == 0;
    }

    /**
     * Items of a group: at least one for each of its columns.
     *
     * @param most that the device has in one, at least {@link #LEAST_GROUP}
     */
    public static int group(int format, int inputs, int columns, int most) {
        int words = words(format, columns);
        int perWord = WeightFormat.perWord(format);
        int slices = Slices.count(inputs);
        int lanes = Math.min(MOST_LANES, Math.min(Math.min(MOST_GROUP, most), MOST_SUMS / perWord) / words);
        int rounds = (slices + lanes - 1) / lanes;
        return Math.max(perWord, (slices + rounds - 1) / rounds) * words;
    }

    /** Slices that a group of so many items sums at once. */
    public static int lanes(int format, int columns, int group) {
        return group / words(format, columns);
    }

    /** Work items. */
    public static long items(int format, int columns, int group) {
        int words = words(format, columns);
        int row = columns / WeightFormat.perWord(format);
        return (row + words - 1L) / words * group;
    }

    private static int loads(int format) {
        return format == WeightFormat.BF16 || format == WeightFormat.F16 ? TABLE_LOADS : LOADS;
    }

    private static int words(int format, int columns) {
        return columns / WeightFormat.perWord(format) > (ENOUGH_GROUPS - 1) * WORDS ? WORDS : FEW_WORDS;
    }

    /**
     * @param floats F32's weights, INT8's scales, the powers of 16 bits
     * @param group items of a group
     * @param norm one of this class
     * @param biased 1 to add the bias
     * @param activation one of {@link LinearKernels}
     * @param ending one of this class
     * @param scale of what is added
     */
    public static void product(
            KernelContext context,
            FloatArray x,
            FloatArray normWeight,
            FloatArray normBias,
            FloatArray floats,
            IntArray words,
            FloatArray bias,
            IntArray layer,
            FloatArray out,
            int format,
            int inputs,
            int columns,
            int group,
            int norm,
            float epsilon,
            int biased,
            int activation,
            int ending,
            float scale,
            int math) {
        float[] chunk = context.allocateFloatLocalArray(MOST_LANES * STRIDE);
        float[] sums = context.allocateFloatLocalArray(MOST_SUMS);
        float[] v = new float[LOADS];
        int[] w = new int[LOADS];
        int perWord = WeightFormat.perWord(format);
        int all = words(format, columns);
        int own = ending == GATES ? all / 2 : all;
        int row = columns / perWord;
        int part = ending == GATES ? row / 2 : row;
        int lanes = group / all;
        int slices = Slices.count(inputs);
        int item = context.localIdx;
        // Always a slice. Compilers unroll a loop of few loads if they know how long it is, and need more registers
        // than there are.
        int terms = loads(format) == LOADS || context.localGroupSizeX == group ? Slices.SIZE : 0;
        int place = item % all;
        int word = Math.min(context.groupIdx * own + place % own, part - 1) + place / own * part;
        float mean = 0f;
        float inverse = 1f;
        if (norm == LAYER_NORM) {
            float total = 0f;
            for (int first = 0; first < slices; first += lanes) {
                for (int i = item; i < lanes * Slices.SIZE; i += group) {
                    int from = first * Slices.SIZE + i;
                    if (from < inputs) {
                        chunk[i / Slices.SIZE * STRIDE + i % Slices.SIZE] = x.get(from);
                    }
                }
                context.localBarrier();
                int start = (first + item) * Slices.SIZE;
                if (item < lanes && start < inputs) {
                    float sum = 0f;
                    for (int k = 0; k < Math.min(Slices.SIZE, inputs - start); k++) {
                        sum += chunk[item * STRIDE + k];
                    }
                    sums[item] = sum;
                }
                context.localBarrier();
                for (int slice = 0; slice < Math.min(lanes, slices - first); slice++) {
                    total += sums[slice];
                }
            }
            mean = KernelMath.quotient(math, total, inputs);
        }
        if (norm != NO_NORM) {
            float squares = 0f;
            for (int first = 0; first < slices; first += lanes) {
                for (int i = item; i < lanes * Slices.SIZE; i += group) {
                    int from = first * Slices.SIZE + i;
                    if (from < inputs) {
                        chunk[i / Slices.SIZE * STRIDE + i % Slices.SIZE] = x.get(from) - mean;
                    }
                }
                context.localBarrier();
                int start = (first + item) * Slices.SIZE;
                if (item < lanes && start < inputs) {
                    float sum = 0f;
                    for (int k = 0; k < Math.min(Slices.SIZE, inputs - start); k++) {
                        float deviation = chunk[item * STRIDE + k];
                        sum = Fused.fma(deviation, deviation, sum);
                    }
                    sums[item] = sum;
                }
                context.localBarrier();
                for (int slice = 0; slice < Math.min(lanes, slices - first); slice++) {
                    squares += sums[slice];
                }
            }
            inverse = KernelMath.inverseRoot(math, KernelMath.quotient(math, squares, inputs), epsilon);
        }
        float y = 0f;
        float up = 0f;
        for (int first = 0; first < slices; first += lanes) {
            for (int i = item; i < lanes * Slices.SIZE; i += group) {
                int from = first * Slices.SIZE + i;
                float value = 0f;
                if (from < inputs) {
                    value = normed(norm, x, normWeight, normBias, layer.get(0) * inputs, from, mean, inverse);
                }
                chunk[i / Slices.SIZE * STRIDE + i % Slices.SIZE] = value;
            }
            context.localBarrier();
            int input = item / all * STRIDE;
            int slice = Math.min(first + item / all, slices - 1);
            int start = slice * Slices.SIZE;
            int at = (layer.get(0) * inputs + start) * row + word;
            int block = layer.get(0) * WeightFormat.blocks(inputs) + slice * (Slices.SIZE / LOADS);
            int scales = block * columns + word * perWord;
            float s0 = 0f;
            float s1 = 0f;
            float s2 = 0f;
            float s3 = 0f;
            for (int k = 0; k < terms; k += loads(format)) {
                for (int j = 0; j < loads(format); j++) {
                    // What is behind the last input is 0, and adds nothing.
                    boolean isInput = inputs % Slices.SIZE == 0 || start + k + j < inputs;
                    if (format == WeightFormat.F32) {
                        v[j] = isInput ? floats.get(at + j * row) : 0f;
                    } else {
                        w[j] = isInput ? words.get(at + j * row) : 0;
                    }
                }
                context.localBarrier();
                if (format == WeightFormat.F32) {
                    for (int j = 0; j < LOADS; j++) {
                        s0 = Fused.fma(chunk[input + k + j], v[j], s0);
                    }
                } else if (format == WeightFormat.INT8) {
                    float p0 = 0f;
                    float p1 = 0f;
                    float p2 = 0f;
                    float p3 = 0f;
                    for (int j = 0; j < LOADS; j++) {
                        p0 = Fused.fma(chunk[input + k + j], WeightFormat.octet(w[j], 0), p0);
                    }
                    for (int j = 0; j < LOADS; j++) {
                        p1 = Fused.fma(chunk[input + k + j], WeightFormat.octet(w[j], 8), p1);
                    }
                    for (int j = 0; j < LOADS; j++) {
                        p2 = Fused.fma(chunk[input + k + j], WeightFormat.octet(w[j], 16), p2);
                    }
                    for (int j = 0; j < LOADS; j++) {
                        p3 = Fused.fma(chunk[input + k + j], WeightFormat.octet(w[j], 24), p3);
                    }
                    if (start + k < inputs) {
                        s0 = Fused.fma(p0, floats.get(scales), s0);
                        s1 = Fused.fma(p1, floats.get(scales + 1), s1);
                        s2 = Fused.fma(p2, floats.get(scales + 2), s2);
                        s3 = Fused.fma(p3, floats.get(scales + 3), s3);
                    }
                    scales += columns;
                } else {
                    for (int j = 0; j < loads(format); j++) {
                        s0 = Fused.fma(chunk[input + k + j], WeightFormat.half(format, w[j], 0, floats), s0);
                        s1 = Fused.fma(chunk[input + k + j], WeightFormat.half(format, w[j], 16, floats), s1);
                    }
                }
                at += loads(format) * row;
            }
            sums[item * perWord] = s0;
            if (perWord > 1) {
                sums[item * perWord + 1] = s1;
            }
            if (perWord > 2) {
                sums[item * perWord + 2] = s2;
                sums[item * perWord + 3] = s3;
            }
            context.localBarrier();
            if (item < own * perWord) {
                for (int lane = 0; lane < Math.min(lanes, slices - first); lane++) {
                    y += sums[lane * (all * perWord) + item];
                }
                if (ending == GATES) {
                    for (int lane = 0; lane < Math.min(lanes, slices - first); lane++) {
                        up += sums[lane * (all * perWord) + own * perWord + item];
                    }
                }
            }
        }
        int column = context.groupIdx * (own * perWord) + item;
        if (item < own * perWord && column < part * perWord) {
            if (biased == 1) {
                int of = layer.get(0) * columns + column;
                y = y + bias.get(of);
                if (ending == GATES) {
                    up = up + bias.get(of + part * perWord);
                }
            }
            y = KernelMath.activate(math, activation, y);
            if (ending == ADDS) {
                y = Fused.fma(scale, y, out.get(column));
            }
            if (ending == GATES) {
                y = y * up;
            }
            out.set(column, y);
        }
    }

    /** An input as {@link NormGroupKernels} has it. */
    private static float normed(
            int norm,
            FloatArray x,
            FloatArray weight,
            FloatArray bias,
            int firstWeight,
            int i,
            float mean,
            float inverse) {
        float value = x.get(i);
        if (norm == LAYER_NORM) {
            value = Fused.fma((value - mean) * inverse, weight.get(firstWeight + i), bias.get(firstWeight + i));
        }
        if (norm == RMS_NORM) {
            value = Fused.product(weight.get(firstWeight + i), value * inverse);
        }
        return value;
    }
}
