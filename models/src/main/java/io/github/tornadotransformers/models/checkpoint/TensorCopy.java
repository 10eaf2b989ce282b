package io.github.tornadotransformers.models.checkpoint;

import java.util.stream.IntStream;

/**
 * Copies a stored tensor {@code [rows][columns]} into a range of a weight's columns, transposed or not, converting on the
 * way. The tensor is cut into panels of rows, which threads share, and panels into tiles that stay in a core's cache: of a
 * transposed tensor every cache line is then read and written once, where a plain loop would fetch one per element.
 *
 * @param sourceRows rows as stored
 * @param firstColumn of the weight's columns
 */
record TensorCopy(
        TensorSource source, long sourceRows, long sourceColumns, boolean transposed, TileSink sink, long firstColumn) {
    /** Rows of a panel and columns of a tile, as stored; multiples of {@link DType#BLOCK}, as the sink wants. */
    private static final int PANEL_ROWS = 64;

    private static final int TILE_COLUMNS = 128;

    /** Tensors of fewer elements are not worth waking other threads. */
    private static final long PARALLEL_ELEMENTS = 1 << 18;

    /** Whether {@link #run} uses several threads. */
    static boolean isParallel(long elements) {
        return elements >= PARALLEL_ELEMENTS;
    }

    void run() {
        int panels = Math.toIntExact(Math.ceilDiv(sourceRows, (long) PANEL_ROWS));
        IntStream indices = IntStream.range(0, panels);
        if (isParallel(sourceRows * sourceColumns)) {
            indices = indices.parallel();
        }
        indices.forEach(panel -> copyPanel((long) panel * PANEL_ROWS));
    }

    private void copyPanel(long firstRow) {
        int rows = (int) Math.min(PANEL_ROWS, sourceRows - firstRow);
        float[] tile = new float[PANEL_ROWS * TILE_COLUMNS];
        float[] turned = new float[transposed ? tile.length : 0];
        for (long first = 0; first < sourceColumns; first += TILE_COLUMNS) {
            int columns = (int) Math.min(TILE_COLUMNS, sourceColumns - first);
            for (int row = 0; row < rows; row++) {
                source.read((firstRow + row) * sourceColumns + first, tile, row * columns, columns);
            }
            if (transposed) {
                turn(tile, rows, columns, turned);
                sink.write(turned, columns, rows, first, firstColumn + firstRow);
            } else {
                sink.write(tile, rows, columns, firstRow, firstColumn + first);
            }
        }
    }

    /** {@code turned[column][row] = tile[row][column]}. */
    private static void turn(float[] tile, int rows, int columns, float[] turned) {
        for (int column = 0; column < columns; column++) {
            for (int row = 0; row < rows; row++) {
                turned[column * rows + row] = tile[row * columns + column];
            }
        }
    }
}
