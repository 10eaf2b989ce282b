package io.github.tornadotransformers.models.checkpoint;

import java.util.List;

/** How the elements of a matrix are kept in memory. Arithmetic is float32 whatever this says. */
public enum DType {
    F32(4),
    BF16(2),
    F16(2),

    /** Signed bytes in blocks of {@link #BLOCK} along the rows (a linear layer's inputs), one float32 scale a block. */
    INT8(1),

    /** Each tensor in the type that the checkpoint has it in, {@link BlockFormat}s among them. */
    STORED(0);

    /** Rows that share a scale in an {@link #INT8} matrix. */
    public static final int BLOCK = 32;

    /** Those in which a whole matrix is kept. */
    public static final List<DType> OF_MATRICES = List.of(F32, BF16, F16, INT8);

    private final int bytes;

    DType(int bytes) {
        this.bytes = bytes;
    }

    /**
     * Bytes of an element, without scales.
     *
     * @throws IllegalStateException if elements have no size of their own
     */
    public int bytes() {
        if (this == STORED) {
            throw new IllegalStateException("tensors are of several types");
        }
        return bytes;
    }
}
