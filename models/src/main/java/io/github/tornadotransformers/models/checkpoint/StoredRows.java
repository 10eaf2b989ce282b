package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The rows and columns of a stored tensor as floats; a vector has one row. For one thread. */
final class StoredRows {
    private final StoredTensor tensor;
    private final StoredType type;
    private final int columns;
    private float[][] all;

    StoredRows(StoredTensor tensor) {
        this.tensor = tensor;
        this.type = tensor.readType();
        this.columns = Math.toIntExact(tensor.shape().getLast());
    }

    float[] row(long row) {
        try (Arena arena = Arena.ofConfined();
                TensorReader reader = new TensorReader(tensor)) {
            return read(reader, arena, row);
        }
    }

    private float[] read(TensorReader reader, Arena arena, long row) {
        long rowBytes = (long) columns * type.bytes();
        MemorySegment bytes = arena.allocate(rowBytes, Long.BYTES);
        tensor.elements(reader).read(row * rowBytes, bytes);
        float[] elements = new float[columns];
        TensorSource source = new TensorSource(type, TensorBytes.of(bytes), columns, arena);
        for (int from = 0; from < columns; from += source.windowWidth()) {
            int width = Math.min(source.windowWidth(), columns - from);
            source.load(0, 1, columns, from, width);
            for (int at = 0; at < width; at += Tile.SIDE) {
                source.read(at, elements, from + at, Math.min(Tile.SIDE, width - at));
            }
        }
        return elements;
    }

    /** Reads the whole tensor when it is first asked for. */
    float[] column(long column) {
        if (all == null) {
            all = new float[rows()][];
            for (int row = 0; row < all.length; row++) {
                all[row] = row(row);
            }
        }
        float[] elements = new float[all.length];
        for (int row = 0; row < elements.length; row++) {
            elements[row] = all[row][(int) column];
        }
        return elements;
    }

    private int rows() {
        return tensor.shape().size() == 1 ? 1 : Math.toIntExact(tensor.shape().getFirst());
    }
}
