package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * A linear layer of a single row with all that is before and behind it in one kernel: {@code y = activation(sum_k norm(x)[k] *
 * w[layer][k][c] + bias[layer][c])}, and {@code out[c] = y}, {@code out[c] += scale * y}, or {@code out[c] = y * y'}, where y' has no activation
 * and is {@code columns / 2} behind y. For matrices of {@link WeightFormat} whose rows are whole words, and so are their halves where halves
 * are multiplied, and for neighbouring columns of a matrix that are blocks of one {@link StoredFormat}.
 *
 * <p>Shapes: x [inputs]; out [width], or half of it; weights as {@link LinearKernels} or {@link StoredFormat} has them; bias [layers][width];
 * norm's weight and bias [layers][inputs].
 *
 * <p>Order: a group has all slices of its columns, so many at once as it has {@link #lanes}: a lane is a slice, and has an item for each word
 * of a row, for each column of blocks. k as in {@link LinearKernels#sliceSums} and {@link StoredKernels#sliceSums}; the slices' sums come together in local
 * memory, where an item for each column adds them up, left to right. A norm's sums are each group's own, in the order of {@link NormGroupKernels}: to compute
 * them again takes less than to wait for another kernel. The sums of blocks' inputs, which all columns share, are taken by an item each.
 *
 * <p>An item has {@value #LOADS} words on their way from memory at once, {@value #TABLE_LOADS} where they are widened by a table, as {@link LinearGroupKernels} has;
 * of blocks all that {@value #BLOCK_ROWS} rows have.
 */
public final class LinearRowKernels {
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

    /** Rows of blocks whose words an item has on their way at once. */
    public static final int BLOCK_ROWS = 64;

    private static final int ROW_WORDS = BLOCK_ROWS / 4;
    private static final int HIGH_WORDS = BLOCK_ROWS / 16;
    private static final int BLOCKS = BLOCK_ROWS / 16;

    /** Blocks of a slice, of formats that have minima. */
    private static final int BLOCKS_OF_SLICE = Slices.SIZE / 32;

    /** From one slice to the next in local memory: lanes that are read at once are in banks of their own, and begin at a multiple of four. */
    private static final int STRIDE = Slices.SIZE + 4;

    private LinearRowKernels() {}

    /** Whether rows, or their halves, are whole words. */
    public static boolean takes(int format, int columns, int ending) {
        return columns % (ending == RowSteps.GATES ? 2 * columnsOfWord(format) : columnsOfWord(format)) == 0;
    }

    /**
     * Items of a group: at least one for each of its columns.
     *
     * @param ending of {@link RowSteps}
     * @param most that the device has in one, at least {@link #LEAST_GROUP}
     */
    public static int group(int format, int inputs, int columns, int ending, int most) {
        int words = words(format, columns, ending);
        int perWord = columnsOfWord(format);
        int slices = Slices.count(inputs);
        int lanes = Math.min(MOST_LANES, Math.min(Math.min(MOST_GROUP, most), MOST_SUMS / perWord) / words);
        int rounds = (slices + lanes - 1) / lanes;
        return Math.max(perWord, (slices + rounds - 1) / rounds) * words;
    }

    /** Slices that a group of so many items sums at once. */
    public static int lanes(int format, int columns, int ending, int group) {
        return group / words(format, columns, ending);
    }

    /** Work items. */
    public static long items(int format, int columns, int ending, int group) {
        int words = words(format, columns, ending);
        int row = columns / columnsOfWord(format);
        return (row + words - 1L) / words * group;
    }

    private static int loads(int format) {
        return format == WeightFormat.BF16 || format == WeightFormat.F16 ? TABLE_LOADS : LOADS;
    }

    /** Halves of a group's words are pieces of memory by themselves. */
    private static int words(int format, int columns, int ending) {
        boolean hasEnough = columns / columnsOfWord(format) > (ENOUGH_GROUPS - 1) * WORDS;
        return hasEnough || ending == RowSteps.GATES ? WORDS : FEW_WORDS;
    }

    /** Columns that a word has a row of; of blocks a word has rows of a column. */
    private static int columnsOfWord(int format) {
        return StoredFormat.isBlocks(format) ? 1 : WeightFormat.perWord(format);
    }

    /** Whether there is such a row. Known where a device compiles, if the last slice is as long as the others. */
    private static boolean isInput(int inputs, int row) {
        return inputs % Slices.SIZE == 0 || row < inputs;
    }

    /**
     * @param floats F32's weights, INT8's scales, the powers of 16 bits; scales and minima of blocks
     * @param places where the blocks of each layer begin, as {@link StoredFormat} has it
     * @param firstColumn of the neighbours, {@code columns} of the matrix's {@code width}
     * @param group items of a group
     * @param steps of {@link RowSteps}
     * @param scale of what is added
     */
    public static void product(
            KernelContext context,
            FloatArray x,
            FloatArray normWeight,
            FloatArray normBias,
            FloatArray floats,
            IntArray words,
            IntArray places,
            FloatArray bias,
            IntArray layer,
            FloatArray out,
            int format,
            int inputs,
            int firstColumn,
            int columns,
            int width,
            int group,
            float epsilon,
            int steps,
            float scale,
            int math) {
        float[] chunk = context.allocateFloatLocalArray(MOST_LANES * STRIDE);
        float[] sums = context.allocateFloatLocalArray(MOST_SUMS);
        float[] v = new float[LOADS];
        int[] w = new int[LOADS];
        float[] sumsOfInputs = context.allocateFloatLocalArray(MOST_LANES * BLOCKS_OF_SLICE);
        int[] low = new int[ROW_WORDS];
        int[] high = new int[HIGH_WORDS];
        float[] blockScales = new float[BLOCKS];
        float[] minima = new float[BLOCKS];
        int perWord = columnsOfWord(format);
        int rowsOfWord = StoredFormat.rowsOfWord(format);
        int rowsOfBlock = StoredFormat.block(format);
        int ending = RowSteps.ending(steps);
        int all = words(format, columns, ending);
        int own = ending == RowSteps.GATES ? all / 2 : all;
        int row = columns / perWord;
        int part = ending == RowSteps.GATES ? row / 2 : row;
        int lanes = group / all;
        int slices = Slices.count(inputs);
        int item = context.localIdx;
        // Always a slice. Compilers unroll a loop of few loads if they know how long it is, and need more registers
        // than there are.
        int terms = loads(format) == LOADS || context.localGroupSizeX == group ? Slices.SIZE : 0;
        int place = item % all;
        int word = Math.min(context.groupIdx * own + place % own, part - 1) + place / own * part;
        int norm = RowSteps.norm(steps);
        float mean = 0f;
        float inverse = 1f;
        if (norm == RowSteps.LAYER_NORM) {
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
        if (norm != RowSteps.NO_NORM) {
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
            float s0 = 0f;
            float s1 = 0f;
            float s2 = 0f;
            float s3 = 0f;
            if (StoredFormat.isBlocks(format)) {
                if (StoredFormat.hasMinimum(format)) {
                    for (int i = item; i < lanes * BLOCKS_OF_SLICE; i += group) {
                        int from = i / BLOCKS_OF_SLICE * STRIDE + i % BLOCKS_OF_SLICE * rowsOfBlock;
                        float sum = 0f;
                        for (int k = 0; k < rowsOfBlock; k++) {
                            sum += chunk[from + k];
                        }
                        sumsOfInputs[i] = sum;
                    }
                }
                int firstWord = places.get(2 * layer.get(0));
                int firstFloat = places.get(2 * layer.get(0) + 1);
                for (int k = 0; k < Slices.SIZE; k += BLOCK_ROWS) {
                    // Known not to be negative, so that a quotient is a shift.
                    int from = (start + k) & Integer.MAX_VALUE;
                    int at = firstWord + from / rowsOfWord * columns + word;
                    for (int j = 0; j < BLOCK_ROWS / rowsOfWord; j++) {
                        low[j] = isInput(inputs, from + j * rowsOfWord) ? words.get(at + j * columns) : 0;
                    }
                    int above = firstWord + StoredFormat.highWord(format, inputs, from) * columns + word;
                    for (int j = 0; j < StoredFormat.highWords(format, BLOCK_ROWS); j++) {
                        boolean isInput = isInput(inputs, from + j * StoredFormat.rowsOfHighWord(format));
                        high[j] = isInput ? words.get(above + j * columns) : 0;
                    }
                    for (int b = 0; b < BLOCK_ROWS / rowsOfBlock; b++) {
                        if (isInput(inputs, from + b * rowsOfBlock)) {
                            blockScales[b] = StoredFormat.scale(
                                    format,
                                    floats,
                                    words,
                                    firstWord,
                                    firstFloat,
                                    inputs,
                                    columns,
                                    from + b * rowsOfBlock,
                                    word);
                        }
                    }
                    if (StoredFormat.hasMinimum(format)) {
                        for (int b = 0; b < BLOCK_ROWS / rowsOfBlock; b++) {
                            if (isInput(inputs, from + b * rowsOfBlock)) {
                                minima[b] = StoredFormat.minimum(
                                        format,
                                        floats,
                                        words,
                                        firstWord,
                                        firstFloat,
                                        inputs,
                                        columns,
                                        from + b * rowsOfBlock,
                                        word);
                            }
                        }
                    }
                    context.localBarrier();
                    for (int b = 0; b < BLOCK_ROWS / rowsOfBlock; b++) {
                        float products = 0f;
                        for (int j = 0; j < rowsOfBlock / rowsOfWord; j++) {
                            int of = b * rowsOfBlock + j * rowsOfWord;
                            int lows = low[of / rowsOfWord];
                            int highs =
                                    StoredFormat.highsFrom(format, high[of / StoredFormat.rowsOfHighWord(format)], of);
                            for (int i = 0; i < rowsOfWord; i++) {
                                float quant = StoredFormat.quant(format, lows, highs, i);
                                products = Fused.fma(chunk[input + k + of + i], quant, products);
                            }
                        }
                        if (isInput(inputs, from + b * rowsOfBlock)) {
                            s0 = Fused.fma(products, blockScales[b], s0);
                            if (StoredFormat.hasMinimum(format)) {
                                s0 = Fused.fma(
                                        sumsOfInputs[item / all * BLOCKS_OF_SLICE + k / rowsOfBlock + b],
                                        minima[b],
                                        s0);
                            }
                        }
                    }
                }
            } else {
                int at = (layer.get(0) * inputs + start) * row + word;
                int block = layer.get(0) * WeightFormat.blocks(inputs) + slice * (Slices.SIZE / LOADS);
                int scales = block * columns + word * perWord;
                for (int k = 0; k < terms; k += loads(format)) {
                    for (int j = 0; j < loads(format); j++) {
                        // What is behind the last input is 0, and adds nothing.
                        boolean isInput = isInput(inputs, start + k + j);
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
                if (ending == RowSteps.GATES) {
                    for (int lane = 0; lane < Math.min(lanes, slices - first); lane++) {
                        up += sums[lane * (all * perWord) + own * perWord + item];
                    }
                }
            }
        }
        int column = context.groupIdx * (own * perWord) + item;
        if (item < own * perWord && column < part * perWord) {
            int of = layer.get(0) * width + firstColumn + column;
            RowSteps.finish(steps, y, up, bias, of, of + part * perWord, out, firstColumn + column, scale, math);
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
        if (norm == RowSteps.LAYER_NORM) {
            value = Fused.fma((value - mean) * inverse, weight.get(firstWeight + i), bias.get(firstWeight + i));
        }
        if (norm == RowSteps.RMS_NORM) {
            value = Fused.product(weight.get(firstWeight + i), value * inverse);
        }
        return value;
    }
}
