package io.github.tornadotransformers.models.checkpoint;

import java.util.stream.IntStream;

/**
 * Copies a stored tensor {@code [rows][columns]} into a range of a weight's columns, transposed or not, converting on the
 * way. The tensor is cut into panels of rows, which threads share, and panels into {@link Tile}s: of a transposed tensor
 * every cache line is then read and written once, where a plain loop would fetch one per element.
 *
 * @param sourceRows rows as stored
 * @param firstColumn of the weight's columns
 */
record TensorCopy(
        TensorSource source, long sourceRows, long sourceColumns, boolean transposed, TileSink sink, long firstColumn) {
    /** Tensors of fewer elements are not worth waking other threads. */
    private static final long PARALLEL_ELEMENTS = 1 << 18;

    /** Whether {@link #run} uses several threads. */
    static boolean isParallel(long elements) {
        return elements >= PARALLEL_ELEMENTS;
    }

    void run() {
        int panels = Math.toIntExact(Math.ceilDiv(sourceRows, (long) Tile.SIDE));
        if (isParallel(sourceRows * sourceColumns)) {
            IntStream.range(0, panels).parallel().forEach(this::copyPanel);
        } else {
            for (int panel = 0; panel < panels; panel++) {
                copyPanel(panel);
            }
        }
    }

    private void copyPanel(int panel) {
        long firstRow = (long) panel * Tile.SIDE;
        int rows = (int) Math.min(Tile.SIDE, sourceRows - firstRow);
        Tile tile = Tile.between(source, sink);
        for (long first = 0; first < sourceColumns; first += Tile.SIDE) {
            int columns = (int) Math.min(Tile.SIDE, sourceColumns - first);
            for (int row = 0; row < rows; row++) {
                tile.read(row, (firstRow + row) * sourceColumns + first, columns);
            }
            if (transposed) {
                tile.turn(rows, columns);
                tile.write(columns, rows, first, firstColumn + firstRow);
            } else {
                tile.write(rows, columns, firstRow, firstColumn + first);
            }
        }
    }
}
