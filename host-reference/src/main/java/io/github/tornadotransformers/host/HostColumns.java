package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.BlockData;
import io.github.tornadotransformers.models.checkpoint.StoredColumns;

/** Columns of a matrix that are kept apart from the others, in a type of their own. */
sealed interface HostColumns {
    /** Which of the matrix's is their first. */
    int firstColumn();

    int columns();

    /** The weight itself, float32. */
    float value(int row, int column);

    static HostColumns of(StoredColumns stored) {
        return switch (stored) {
            case StoredColumns.Plain plain -> new Plain(plain.firstColumn(), HostMatrix.of(plain.data(), 0));
            case StoredColumns.Blocks blocks -> new Blocks(blocks.firstColumn(), blocks.data());
            case StoredColumns.Words _ -> throw new IllegalArgumentException("the blocks lie as devices read them");
        };
    }

    /** Numbers. */
    record Plain(int firstColumn, HostMatrix matrix) implements HostColumns {
        @Override
        public int columns() {
            return matrix.columns();
        }

        @Override
        public float value(int row, int column) {
            return matrix.value(row, column - firstColumn);
        }
    }

    /** Blocks. */
    record Blocks(int firstColumn, BlockData matrix) implements HostColumns {
        @Override
        public int columns() {
            return matrix.columns();
        }

        @Override
        public float value(int row, int column) {
            return matrix.value(row, column - firstColumn);
        }
    }
}
