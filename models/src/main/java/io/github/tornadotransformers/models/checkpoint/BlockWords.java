package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A matrix {@code [rows][columns]} in a block format as devices read it: neighbouring columns, which neighbouring work items own, lie in
 * neighbouring words of 32 bits. It takes as much memory as {@link BlockData}: for a weight of
 * Q4_K 4.75 bits, Q4_0 5, Q5_K 5.75, Q4_1 and Q5_0 6, Q6_K 6.625, Q5_1 7, Q8_0 9.
 *
 * @param words {@code [columnWords][columns]}. A column's are its quants, four of eight bits or eight of four bits in a word; then the
 *     bits above four, those of 32 rows of a single bit or of 16 rows of two; then, where blocks have small integers, those of 64 rows:
 *     scale and minimum of a block, then of the next, or scales of four blocks, eight bits each. The first row has a word's lowest bits.
 * @param floats {@code [groups][columns]}: scales; then, where there are minima, those
 */
public record BlockWords(BlockFormat format, int rows, int columns, MemorySegment words, MemorySegment floats) {
    private static final int NIBBLE = 4;

    /** Writes a group as a file has it to its place in a column. */
    void put(QuantizedGroup group, int index, int column) {
        int first = index * format.groupRows();
        int perWord = Integer.SIZE / format.lowBits();
        putBits(0, first / perWord, format.lowBits(), 0, group, column);
        if (format.highBits() > 0) {
            int perHighWord = Integer.SIZE / format.highBits();
            putBits(format.highWordsAt(rows), first / perHighWord, format.highBits(), NIBBLE, group, column);
        }
        if (format.isTwoLevel()) {
            int at = format.integerWordsAt(rows) + first / BlockFormat.ROWS_OF_INTEGERS;
            for (int word = 0; word < format.groupRows() / BlockFormat.ROWS_OF_INTEGERS; word++) {
                setWord(at + word, column, integers(group, word));
            }
        }
        setFloat(index, column, group.scale());
        if (format.hasMinimum()) {
            setFloat(rows / format.groupRows() + index, column, group.minimum());
        }
    }

    /** @param shift of the first of a quant's bits that are written */
    private void putBits(int at, int first, int bits, int shift, QuantizedGroup group, int column) {
        int perWord = Integer.SIZE / bits;
        int mask = (1 << bits) - 1;
        for (int word = 0; word < format.groupRows() / perWord; word++) {
            int packed = 0;
            for (int i = 0; i < perWord; i++) {
                packed |= (group.quant(word * perWord + i) >> shift & mask) << i * bits;
            }
            setWord(at + first + word, column, packed);
        }
    }

    private int integers(QuantizedGroup group, int word) {
        int packed = 0;
        int blocks = BlockFormat.ROWS_OF_INTEGERS / format.blockRows();
        for (int i = 0; i < blocks; i++) {
            int block = word * blocks + i;
            int scale = group.blockInteger(block) & 0xFF;
            int both = format.hasMinimum() ? scale | group.minimumInteger(block) << Byte.SIZE : scale;
            packed |= both << i * (Integer.SIZE / blocks);
        }
        return packed;
    }

    private void setWord(int row, int column, int value) {
        words.setAtIndex(ValueLayout.JAVA_INT, (long) row * columns + column, value);
    }

    private void setFloat(int row, int column, float value) {
        floats.setAtIndex(ValueLayout.JAVA_FLOAT, (long) row * columns + column, value);
    }
}
