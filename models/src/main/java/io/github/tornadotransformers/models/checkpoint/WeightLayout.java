package io.github.tornadotransformers.models.checkpoint;

/** In which order the elements of a matrix {@code [rows][columns]} lie in memory. None leaves gaps between them. */
public enum WeightLayout {
    /** Row after row, as devices want it: their threads own columns and read side by side. */
    ROW_MAJOR,

    /**
     * Panels of {@link #PANEL} columns, each {@code [rows][PANEL]} row-major, one after the other; the last may be narrower. A
     * core that sums the columns of a panel reads memory from one end to the other.
     *
     * <p>In whole panels of {@code BF16}, columns {@code c} and {@code c + PANEL / 2} lie side by side, so that a vector of
     * 32-bit lanes holds adjacent columns in its upper halves, and others in its lower: a shift or a mask makes floats of them.
     */
    PANELS;

    /** Columns of a panel: two vectors of the widest kind. */
    public static final int PANEL = 32;

    private static final int HALF = PANEL / 2;

    /** The first of the columns that lie together with {@code column} in each row: those of its panel, or all. */
    public int runStart(int column) {
        return this == PANELS ? column - column % PANEL : 0;
    }

    /** One past the last of the columns that lie together with {@code column}. */
    public int runEnd(int columns, int column) {
        return this == PANELS ? Math.min(columns, runStart(column) + PANEL) : columns;
    }

    /** Whether the columns that lie together with {@code column} are in the order of {@link #pairedIndex}. */
    public boolean isPaired(DType dtype, int columns, int column) {
        return this == PANELS && dtype == DType.BF16 && runStart(column) + PANEL <= columns;
    }

    /** Where element {@code (row, column)} lies, counted in elements. Scales lie as {@code F32} elements would. */
    public long index(DType dtype, int rows, int columns, int row, int column) {
        int start = runStart(column);
        int at = isPaired(dtype, columns, column) ? pairedIndex(column - start) : column - start;
        return (long) start * rows + (long) row * (runEnd(columns, column) - start) + at;
    }

    /** Where column {@code c} of a whole panel of {@code BF16} lies in its row. */
    public static int pairedIndex(int c) {
        return c % HALF * 2 + c / HALF;
    }
}
