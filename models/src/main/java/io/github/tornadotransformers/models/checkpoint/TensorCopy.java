package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.Arena;
import java.util.stream.LongStream;

/**
 * Copies a stored tensor {@code [rows][columns]} into a range of the columns of a weight's layer, transposed or not, converting
 * on the way. The tensor is cut into panels of rows, which threads share, and panels into {@link Tile}s: of a transposed tensor
 * every cache line is then read and written once, where a plain loop would fetch one per element.
 *
 * @param rows rows as stored
 * @param columns columns as stored
 * @param firstColumn of the weight's columns
 */
record TensorCopy(
        StoredType type,
        TensorBytes tensor,
        long rows,
        long columns,
        boolean transposed,
        WeightData target,
        int layer,
        long firstColumn) {
    /** Tensors of fewer elements are not worth waking other threads. */
    private static final long PARALLEL_ELEMENTS = 1 << 18;

    /** Tasks for each thread, so that one that is late does not keep the others waiting long. */
    private static final int TASKS_PER_THREAD = 4;

    /** @return how many finite values became infinite */
    long run() {
        long panels = Math.ceilDiv(rows, (long) Tile.SIDE);
        if (rows * columns < PARALLEL_ELEMENTS) {
            return copyPanels(0, panels);
        }
        long tasks =
                Math.min(panels, (long) TASKS_PER_THREAD * Runtime.getRuntime().availableProcessors());
        return LongStream.range(0, tasks)
                .parallel()
                .map(task -> copyPanels(panels * task / tasks, panels * (task + 1) / tasks))
                .sum();
    }

    private long copyPanels(long from, long to) {
        try (Arena arena = Arena.ofConfined()) {
            TensorSource source = new TensorSource(type, tensor, rows * columns, arena);
            Tile tile = Tile.between(source, new TileSink(target, layer));
            for (long panel = from; panel < to; panel++) {
                copyPanel(source, tile, panel * Tile.SIDE);
            }
            return tile.overflows();
        }
    }

    private void copyPanel(TensorSource source, Tile tile, long firstRow) {
        int height = (int) Math.min(Tile.SIDE, rows - firstRow);
        for (long first = 0; first < columns; first += source.windowWidth()) {
            int width = (int) Math.min(source.windowWidth(), columns - first);
            source.load(firstRow, height, columns, first, width);
            copyWindow(tile, firstRow, height, first, width);
        }
    }

    private void copyWindow(Tile tile, long firstRow, int height, long windowColumn, int windowWidth) {
        for (int first = 0; first < windowWidth; first += Tile.SIDE) {
            int width = Math.min(Tile.SIDE, windowWidth - first);
            for (int row = 0; row < height; row++) {
                tile.read(row, row * windowWidth + first, width);
            }
            if (transposed) {
                tile.writeTurned(height, width, windowColumn + first, firstColumn + firstRow);
            } else {
                tile.write(height, width, firstRow, firstColumn + windowColumn + first);
            }
        }
    }
}
