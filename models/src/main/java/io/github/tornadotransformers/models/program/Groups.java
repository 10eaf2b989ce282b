package io.github.tornadotransformers.models.program;

/**
 * Columns of a row that are normalized by themselves: {@code count} groups of {@code size} elements, side by side from
 * {@code firstColumn}. A norm of the residual stream is one group as wide as the row; one of the queries is a group for each
 * head, or one for all of them.
 *
 * @param rowWidth elements from one row to the next
 */
public record Groups(int rowWidth, int firstColumn, int count, int size) {
    public Groups {
        if (firstColumn < 0 || count < 1 || size < 1 || (long) firstColumn + (long) count * size > rowWidth) {
            throw new IllegalArgumentException(
                    count + " groups of " + size + " from column " + firstColumn + " in a row of " + rowWidth);
        }
    }

    public static Groups wholeRow(int width) {
        return new Groups(width, 0, 1, width);
    }

    /** Where a group begins, counted from the first row. */
    public int first(int row, int group) {
        return row * rowWidth + firstColumn + group * size;
    }

    /** Whether every column belongs to a group. */
    public boolean coverTheRow() {
        return count * size == rowWidth;
    }
}
