package io.github.tornadotransformers.models.checkpoint;

/**
 * A square of a tensor that stays in a core's cache while it is converted and turned. Only its upper left part is filled at
 * the tensor's edges. For one thread.
 */
sealed interface Tile {
    /** Rows and columns; a multiple of {@link DType#BLOCK}, so that no block of {@code INT8} is cut. */
    int SIDE = 128;

    int ELEMENTS = SIDE * SIDE;

    /** Fills the first columns of a row from {@code columns} consecutive elements of the source's window. */
    void read(int row, int firstElement, int columns);

    /** Writes the upper left part to {@code (row, column)} of the weight's layer. */
    void write(int rows, int columns, long row, long column);

    /** As {@link #write}, with rows and columns swapped: what is written is {@code [columns][rows]}. */
    void writeTurned(int rows, int columns, long row, long column);

    /** How many finite values have become infinite so far. */
    long overflows();

    static Tile between(TensorSource source, TileSink sink) {
        return source.isKeptBy(sink.dtype()) ? new Halves(source, sink) : new Floats(source, sink);
    }

    /** Any type to any other, by way of float32. */
    final class Floats implements Tile {
        private static final int ROWS_AT_ONCE = 16;

        private final TensorSource source;
        private final TileSink sink;
        private final float[] elements = new float[ELEMENTS];
        private final float[] turned = new float[ELEMENTS];

        private Floats(TensorSource source, TileSink sink) {
            this.source = source;
            this.sink = sink;
        }

        @Override
        public void read(int row, int firstElement, int columns) {
            source.read(firstElement, elements, row * SIDE, columns);
        }

        /** A few rows at a time, whose columns fill the lines of the cache that they are written to. */
        private static void turn(float[] from, int rows, int columns, float[] to) {
            for (int first = 0; first < rows; first += ROWS_AT_ONCE) {
                int end = Math.min(rows, first + ROWS_AT_ONCE);
                for (int column = 0; column < columns; column++) {
                    for (int row = first; row < end; row++) {
                        to[column * SIDE + row] = from[row * SIDE + column];
                    }
                }
            }
        }

        @Override
        public void write(int rows, int columns, long row, long column) {
            sink.write(elements, rows, columns, row, column);
        }

        @Override
        public void writeTurned(int rows, int columns, long row, long column) {
            turn(elements, rows, columns, turned);
            sink.write(turned, columns, rows, row, column);
        }

        @Override
        public long overflows() {
            return source.overflows() + sink.overflows();
        }
    }

    /** Elements of 16 bits that stay as they are. */
    final class Halves implements Tile {
        private final TensorSource source;
        private final TileSink sink;
        private final short[] elements = new short[ELEMENTS];

        private Halves(TensorSource source, TileSink sink) {
            this.source = source;
            this.sink = sink;
        }

        @Override
        public void read(int row, int firstElement, int columns) {
            source.readBits(firstElement, elements, row * SIDE, columns);
        }

        @Override
        public void write(int rows, int columns, long row, long column) {
            sink.writeBits(elements, rows, columns, row, column);
        }

        @Override
        public void writeTurned(int rows, int columns, long row, long column) {
            sink.writeTurnedBits(elements, rows, columns, row, column);
        }

        @Override
        public long overflows() {
            return 0;
        }
    }
}
