package io.github.tornadotransformers.models.checkpoint;

/** In what columns of a matrix are kept. */
public sealed interface ColumnType {
    /** Bytes of so many columns. */
    long bytes(int rows, int columns);

    /** Numbers of a type that has no scales. */
    record Plain(DType dtype) implements ColumnType {
        @Override
        public long bytes(int rows, int columns) {
            return Math.multiplyExact(Math.multiplyExact((long) rows, (long) columns), (long) dtype.bytes());
        }
    }

    /** Blocks of a format. */
    record Blocks(BlockFormat format) implements ColumnType {
        @Override
        public long bytes(int rows, int columns) {
            return Math.multiplyExact(
                    (long) format.columnWords(rows) + format.columnFloats(rows), (long) columns * Integer.BYTES);
        }
    }
}
