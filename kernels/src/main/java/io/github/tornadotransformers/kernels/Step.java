package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * What changes from one run of a graph to the next: scalars are frozen into a kernel when it is compiled, so this travels in an
 * array. Rows are tokens of any sequences: of each the array has the position and where the page table of its sequence begins,
 * in the same array, behind all rows. For the head it has, of each row, which one of all it is.
 */
public final class Step {
    /**
     * Rows that hold tokens; those behind are padding, which no kernel stores. Kernels compare with it even where a graph is
     * compiled for a single row: a condition that folds to a constant late fails in TornadoVM's code generator.
     */
    public static final int ROWS = 0;

    /** What precedes the rows. */
    private static final int HEADER = 1;

    private static final int INTS_PER_ROW = 2;

    private Step() {}

    /** Where a row's position in its text is. */
    public static int position(int row) {
        return HEADER + INTS_PER_ROW * row;
    }

    /** Where it is said where the page table of a row's sequence begins: the numbers of its pages, in order. */
    public static int table(int row) {
        return HEADER + INTS_PER_ROW * row + 1;
    }

    /** Where page tables begin. */
    public static int firstTable(int rows) {
        return HEADER + INTS_PER_ROW * rows;
    }

    /** Ints of the array, if it has page tables of so many pages altogether. */
    public static long size(int rows, long pages) {
        return HEADER + INTS_PER_ROW * (long) rows + pages;
    }

    /** For the head: where it is said which one of all rows a row of the head is. */
    public static int selected(int row) {
        return HEADER + INTS_PER_ROW * row;
    }

    /** For the head: where it is said how many of a row's largest logits are looked for. */
    public static int candidates(int row) {
        return HEADER + INTS_PER_ROW * row + 1;
    }

    /** Ints of the head's array. */
    public static long headSize(int rows) {
        return HEADER + INTS_PER_ROW * (long) rows;
    }

    /**
     * Says that the rows are tokens of one sequence, which follow each other, and whose pages are all there are, in order.
     *
     * @param step of {@code size(rows, pages)}
     */
    public static void setSequence(IntArray step, int firstPosition, int rows, int live, int pages) {
        step.set(ROWS, live);
        for (int row = 0; row < live; row++) {
            step.set(position(row), firstPosition + row);
            step.set(table(row), firstTable(rows));
        }
        for (int page = 0; page < pages; page++) {
            step.set(firstTable(rows) + page, page);
        }
    }
}
