package io.github.tornadotransformers.models.checkpoint;

/** Columns of one layer of a matrix that are kept as their tensor is stored. */
public sealed interface StoredColumns {
    /** Which of the matrix's is their first. */
    int firstColumn();

    int columns();

    long bytes();

    /** Numbers, in a weight of one layer that has these columns alone. */
    record Plain(int firstColumn, WeightData data) implements StoredColumns {
        @Override
        public int columns() {
            return data.weight().columns();
        }

        @Override
        public long bytes() {
            return data.bytes();
        }
    }

    /** Blocks. */
    record Blocks(int firstColumn, BlockData data) implements StoredColumns {
        @Override
        public int columns() {
            return data.columns();
        }

        @Override
        public long bytes() {
            return data.data().byteSize();
        }
    }

    /** Blocks as devices read them, of neighbouring tensors. */
    record Words(int firstColumn, BlockWords data) implements StoredColumns {
        @Override
        public int columns() {
            return data.columns();
        }

        @Override
        public long bytes() {
            return data.words().byteSize() + data.floats().byteSize();
        }
    }
}
