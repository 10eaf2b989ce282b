package io.github.tornadotransformers.models.checkpoint;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The block formats of GGUF files. A block is a run of rows of one column (a linear layer's inputs) that share a scale, and in some
 * formats a minimum; the formats whose names end in K have a float scale (and minimum) for every 256 rows, and small integers that it
 * is multiplied by for each block.
 *
 * <pre>
 * w = (q - offset) * scale + minimum
 * </pre>
 *
 * In memory the columns of a matrix lie in panels of {@link WeightLayout#PANEL}, the last one padded, and a panel is a sequence of
 * groups, each of all rows that one element of the file's format holds: float32 scales (then minima) of the columns; the blocks' small
 * integers, scales before minima, a byte a column; then quants, as bytes, or as nibbles of which a byte has those of two rows, the
 * first in its lower half; then the bits above a nibble, those of 8 or 4 rows in a byte, the first in the lowest.
 *
 * <p>Source: {@code ggml-common.h} and {@code gguf-py/gguf/quants.py} of github.com/ggml-org/llama.cpp.
 */
public enum BlockFormat {
    Q4_0(4, 32, 32, 8, false, 18),
    Q4_1(4, 32, 32, 0, true, 20),
    Q5_0(5, 32, 32, 16, false, 22),
    Q5_1(5, 32, 32, 0, true, 24),
    Q8_0(8, 32, 32, 0, false, 34),
    Q4_K(4, 32, 256, 0, true, 144),
    Q5_K(5, 32, 256, 0, true, 176),
    Q6_K(6, 16, 256, 32, false, 210);

    /** Rows of the largest group. */
    public static final int MAX_GROUP = 256;

    /** Rows whose small integers make a word of {@link BlockWords}. */
    static final int ROWS_OF_INTEGERS = 64;

    private static final int PANEL = WeightLayout.PANEL;
    private static final int NIBBLE = 4;

    private final int bits;
    private final int blockRows;
    private final int groupRows;
    private final int offset;
    private final boolean hasMinimum;
    private final int fileBytes;

    BlockFormat(int bits, int blockRows, int groupRows, int offset, boolean hasMinimum, int fileBytes) {
        this.bits = bits;
        this.blockRows = blockRows;
        this.groupRows = groupRows;
        this.offset = offset;
        this.hasMinimum = hasMinimum;
        this.fileBytes = fileBytes;
    }

    static Optional<BlockFormat> named(String dtype) {
        return Arrays.stream(values())
                .filter(format -> format.name().equals(dtype))
                .findFirst();
    }

    static String allNames() {
        return Arrays.stream(values()).map(BlockFormat::name).collect(Collectors.joining(", "));
    }

    /** Bits of a quant. */
    public int bits() {
        return bits;
    }

    /** Rows that share a scale: 16 or 32. */
    public int blockRows() {
        return blockRows;
    }

    /** Rows of a group: 32 or 256. */
    public int groupRows() {
        return groupRows;
    }

    /** What is subtracted from a quant. */
    public int offset() {
        return offset;
    }

    public boolean hasMinimum() {
        return hasMinimum;
    }

    /** Whether blocks have small integers, by which a group's scale is multiplied. */
    public boolean isTwoLevel() {
        return groupRows > blockRows;
    }

    /** Bytes of one column's group in a file. */
    public int fileBytes() {
        return fileBytes;
    }

    /** Blocks of a group. */
    public int blocks() {
        return groupRows / blockRows;
    }

    /** Where the minima lie in a group. */
    public int minimaAt() {
        return PANEL * Float.BYTES;
    }

    /** Where the small integers of a block's scales lie in a group. */
    public int scaleAt(int block) {
        return (hasMinimum ? 2 : 1) * PANEL * Float.BYTES + block * PANEL;
    }

    /** Where the small integers of a block's minima lie in a group. */
    public int minimumAt(int block) {
        return scaleAt(blocks() + block);
    }

    /** Where the quants lie in a group. */
    public int quantsAt() {
        int integers = isTwoLevel() ? (hasMinimum ? 2 : 1) * blocks() : 0;
        return scaleAt(integers);
    }

    /** Where the bits above a nibble lie in a group. */
    public int highAt() {
        return quantsAt() + groupRows / 2 * PANEL;
    }

    /** Rows whose bits above a nibble lie in one byte. */
    public int rowsOfHighByte() {
        return Byte.SIZE / (bits - NIBBLE);
    }

    /** Bytes of a group of a panel. */
    public int groupBytes() {
        return switch (bits) {
            case Byte.SIZE -> quantsAt() + groupRows * PANEL;
            case NIBBLE -> highAt();
            default -> highAt() + groupRows / rowsOfHighByte() * PANEL;
        };
    }

    /**
     * Bytes of a matrix in memory, and some behind it, which vectors may read.
     *
     * @throws ArithmeticException if a {@code long} cannot hold them
     */
    public long bytes(int rows, int columns) {
        return Math.addExact(
                Math.multiplyExact((long) Math.ceilDiv(columns, PANEL), panelBytes(rows)), WeightAllocator.ALIGNMENT);
    }

    /** Bytes of a panel of so many rows, a multiple of a group's. */
    public long panelBytes(int rows) {
        return Math.multiplyExact((long) rows / groupRows, (long) groupBytes());
    }

    /** Bits of a quant that lie together with those of its neighbours: four or eight. */
    int lowBits() {
        return bits == Byte.SIZE ? Byte.SIZE : NIBBLE;
    }

    /** Bits of a quant that lie by themselves. */
    int highBits() {
        return bits - lowBits();
    }

    /** Which of a column's {@link BlockWords} are the first of bits above four. */
    int highWordsAt(int rows) {
        return rows / (Integer.SIZE / lowBits());
    }

    /** Which of a column's {@link BlockWords} are the first of small integers. */
    int integerWordsAt(int rows) {
        return highWordsAt(rows) + (highBits() == 0 ? 0 : rows / (Integer.SIZE / highBits()));
    }

    /** Words of a column of {@link BlockWords}. */
    int columnWords(int rows) {
        return integerWordsAt(rows) + (isTwoLevel() ? rows / ROWS_OF_INTEGERS : 0);
    }

    /** Floats of a column of {@link BlockWords}. */
    int columnFloats(int rows) {
        return rows / groupRows * (hasMinimum ? 2 : 1);
    }
}
