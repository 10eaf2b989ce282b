package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * How a kernel reads columns of a matrix that are kept as their tensor is stored, of several formats side by side: numbers, as {@link
 * WeightFormat} has them, or blocks of quantized integers that share a scale, and in some formats a minimum: w = (quant - offset) * scale +
 * minimum. A format is a number from which its properties are taken apart where a device compiles.
 *
 * <p>What lies in an array of words, {@code [words][columns]}: quants, four of eight bits or eight of four bits of a column in a word; then
 * the bits above four, those of 32 rows of a single bit or of 16 rows of two; then, where a group of blocks shares scale and minimum, small
 * integers by which a block's are made of them, those of 64 rows: scale and minimum of a block, then of the next, or scales of four blocks,
 * eight bits each. The first row has a word's lowest bits. In an array of floats, {@code [groups][columns]}: scales, then minima.
 *
 * <p>Layers and columns lie one behind the other; {@code places} says where those of a layer begin, {@code {in words, in floats}} for each
 * layer. Numbers of 16 bits lie in words, float32 in floats.
 */
public final class StoredFormat {
    private static final int BLOCK_ROWS_AT = 1 << 4;
    private static final int GROUP_ROWS_AT = BLOCK_ROWS_AT << 6;
    private static final int OFFSET_AT = GROUP_ROWS_AT << 9;
    private static final int MINIMUM_AT = OFFSET_AT << 6;

    private static final int NIBBLE_BITS = 4;
    private static final int NIBBLE = 0xF;
    private static final int OCTET_BITS = 8;
    private static final int HALF_BITS = 16;
    private static final int HALF = 0xFFFF;
    private static final int ROWS_OF_INTEGERS = 64;

    private StoredFormat() {}

    /**
     * A format of blocks. Others are those of {@link WeightFormat} that have no scales.
     *
     * @param bits of a quant: 4, 5, 6 or 8
     * @param blockRows rows that share a scale: 16 or 32
     * @param groupRows rows of the blocks that have a scale together: 256, or as many as a block has
     * @param offset what is subtracted from a quant, 32 at most
     */
    public static int ofBlocks(int bits, int blockRows, int groupRows, int offset, boolean hasMinimum) {
        return bits
                + blockRows * BLOCK_ROWS_AT
                + groupRows * GROUP_ROWS_AT
                + offset * OFFSET_AT
                + (hasMinimum ? MINIMUM_AT : 0);
    }

    /** Whether it is a format of blocks. */
    public static boolean isBlocks(int format) {
        return format >= BLOCK_ROWS_AT;
    }

    /** Bits of a quant. */
    public static int bits(int format) {
        return format % BLOCK_ROWS_AT;
    }

    private static int blockRows(int format) {
        return format / BLOCK_ROWS_AT % 64;
    }

    private static int groupRows(int format) {
        return format / GROUP_ROWS_AT % 512;
    }

    private static int offset(int format) {
        return format / OFFSET_AT % 64;
    }

    /** Whether a block adds a minimum to each of its weights. */
    public static boolean hasMinimum(int format) {
        return format >= MINIMUM_AT;
    }

    /** Whether blocks have small integers, by which a group's scale is multiplied. */
    public static boolean isTwoLevel(int format) {
        return groupRows(format) > blockRows(format);
    }

    /** Rows whose products are summed before they are scaled: numbers have one block a slice. */
    public static int block(int format) {
        return isBlocks(format) ? blockRows(format) : Slices.SIZE;
    }

    /** Rows of quants in a word. */
    static int rowsOfWord(int format) {
        return bits(format) == OCTET_BITS ? Integer.SIZE / OCTET_BITS : Integer.SIZE / NIBBLE_BITS;
    }

    static boolean hasHighBits(int format) {
        return bits(format) == 5 || bits(format) == 6;
    }

    /** Rows of bits above four in a word, where there are such. */
    static int rowsOfHighWord(int format) {
        return bits(format) == 6 ? 16 : 32;
    }

    /** Words of bits above four of so many rows. */
    static int highWords(int format, int rows) {
        return hasHighBits(format) ? rows / rowsOfHighWord(format) : 0;
    }

    /** Which of a column's words has a row's bits above four. */
    static int highWord(int format, int inputs, int row) {
        return inputs / rowsOfWord(format) + row / rowsOfHighWord(format);
    }

    /** Which of a column's words has the first small integers. */
    private static int integerWordsAt(int format, int inputs) {
        return inputs / rowsOfWord(format) + highWords(format, inputs);
    }

    /** Bytes of a column, words and floats. */
    public static long columnBytes(int format, int inputs) {
        if (!isBlocks(format)) {
            return (long) inputs * (format == WeightFormat.F32 ? Float.BYTES : Short.BYTES);
        }
        int words = integerWordsAt(format, inputs) + (isTwoLevel(format) ? inputs / ROWS_OF_INTEGERS : 0);
        int floats = inputs / groupRows(format) * (hasMinimum(format) ? 2 : 1);
        return (long) words * Integer.BYTES + (long) floats * Float.BYTES;
    }

    /** The number at row k of a column, exactly; of a block the quant less its offset. */
    static float element(
            int format,
            FloatArray floats,
            IntArray words,
            FloatArray powers,
            int firstWord,
            int firstFloat,
            int inputs,
            int columns,
            int k,
            int column) {
        float value;
        if (format == WeightFormat.F32) {
            value = floats.get(firstFloat + k * columns + column);
        } else if (isBlocks(format)) {
            value = quantAt(format, words, firstWord, inputs, columns, k, column);
        } else {
            // Known not to be negative, so that a quotient is a shift.
            int at = (k * columns + column) & Integer.MAX_VALUE;
            value = WeightFormat.half(format, words.get(firstWord + at / 2), at % 2 * HALF_BITS, powers);
        }
        return value;
    }

    /** The quant at row k of a column, less its offset. */
    static float quantAt(int format, IntArray words, int firstWord, int inputs, int columns, int k, int column) {
        int row = k & Integer.MAX_VALUE;
        int low = words.get(firstWord + row / rowsOfWord(format) * columns + column);
        int above = hasHighBits(format) ? highWord(format, inputs, row) : row / rowsOfWord(format);
        return quant(format, low, words.get(firstWord + above * columns + column), row);
    }

    /**
     * The quant of a row, less its offset.
     *
     * @param low the word that has it, or its lower four bits
     * @param high the word that has its bits above four, if they are elsewhere
     */
    static float quant(int format, int low, int high, int row) {
        float value;
        if (bits(format) == OCTET_BITS) {
            value = WeightFormat.octet(low, row % 4 * OCTET_BITS);
        } else {
            value = ((low >> (row % 8 * NIBBLE_BITS)) & NIBBLE) + highBits(format, high, row) - offset(format);
        }
        return value;
    }

    /** From where a row's bits above four lie in a word. */
    private static int highShift(int format, int row) {
        return row % rowsOfHighWord(format) * (Integer.SIZE / rowsOfHighWord(format));
    }

    /** The bits above four of a row and of those behind it that are in the same word of quants: what {@link #quant} takes for row 0. */
    static int highsFrom(int format, int word, int row) {
        return (word >> highShift(format, row)) & HALF;
    }

    private static int highBits(int format, int high, int row) {
        int bits = 0;
        if (bits(format) == 5) {
            bits = ((high >> highShift(format, row)) & 1) * 16;
        }
        if (bits(format) == 6) {
            bits = ((high >> highShift(format, row)) & 3) * 16;
        }
        return bits;
    }

    /** Which float of an array is the scale of row k's group. */
    static int scaleAt(int format, int firstFloat, int columns, int k, int column) {
        return firstFloat + k / groupRows(format) * columns + column;
    }

    /** Which float of an array is the minimum of row k's group, of a format that has minima. */
    static int minimumAt(int format, int firstFloat, int inputs, int columns, int k, int column) {
        return firstFloat + (inputs / groupRows(format) + k / groupRows(format)) * columns + column;
    }

    /** Which word of an array has the small integers of row k's block, of a format that has such. */
    static int integersAt(int format, int firstWord, int inputs, int columns, int k, int column) {
        return firstWord + (integerWordsAt(format, inputs) + k / ROWS_OF_INTEGERS) * columns + column;
    }

    /** The scale of row k's block: its group's, times the block's small integer, where there is one. */
    static float scaled(int format, float scale, int integers, int k) {
        int block = k % ROWS_OF_INTEGERS / blockRows(format);
        return isTwoLevel(format) ? scale * WeightFormat.octet(integers, block * (blockRows(format) / 2)) : scale;
    }

    /** The minimum of row k's block, likewise. */
    static float raised(int format, float minimum, int integers, int k) {
        int block = k % ROWS_OF_INTEGERS / blockRows(format);
        return isTwoLevel(format) ? minimum * WeightFormat.octet(integers, block * HALF_BITS + OCTET_BITS) : minimum;
    }

    /** The scale of row k's block; 1 where the format has none. */
    static float scale(
            int format,
            FloatArray floats,
            IntArray words,
            int firstWord,
            int firstFloat,
            int inputs,
            int columns,
            int k,
            int column) {
        float scale = 1f;
        if (isBlocks(format)) {
            scale = floats.get(scaleAt(format, firstFloat, columns, k, column));
        }
        if (isTwoLevel(format)) {
            scale = scaled(format, scale, words.get(integersAt(format, firstWord, inputs, columns, k, column)), k);
        }
        return scale;
    }

    /** What row k's block adds to each of its weights, of a format that has minima. */
    static float minimum(
            int format,
            FloatArray floats,
            IntArray words,
            int firstWord,
            int firstFloat,
            int inputs,
            int columns,
            int k,
            int column) {
        float minimum = floats.get(minimumAt(format, firstFloat, inputs, columns, k, column));
        if (isTwoLevel(format)) {
            minimum = raised(format, minimum, words.get(integersAt(format, firstWord, inputs, columns, k, column)), k);
        }
        return minimum;
    }
}
