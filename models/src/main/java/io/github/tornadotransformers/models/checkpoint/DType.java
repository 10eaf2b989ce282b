package io.github.tornadotransformers.models.checkpoint;

/** How the elements of a matrix are kept in memory. Arithmetic is float32 whatever this says. */
public enum DType {
    F32(4),
    BF16(2),
    F16(2),

    /** Signed bytes in blocks of {@link #BLOCK} along the rows (a linear layer's inputs), one float32 scale a block. */
    INT8(1);

    /** Rows that share a scale in an {@link #INT8} matrix. */
    public static final int BLOCK = 32;

    private final int bytes;

    DType(int bytes) {
        this.bytes = bytes;
    }

    /** Bytes of an element, without scales. */
    public int bytes() {
        return bytes;
    }
}
