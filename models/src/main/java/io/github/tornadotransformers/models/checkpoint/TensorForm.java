package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.TensorPart;

/**
 * In what a stored tensor differs from the one of that name in Hugging Face's checkpoints.
 *
 * @param turned whether it is the transposed one
 * @param shifted whether the weight's offset has been added to it
 * @param interleavedRows how many rows, of a head, lie as pairs that are rotated together, where Hugging Face's are two halves; 0
 *     for none
 */
record TensorForm(boolean turned, boolean shifted, int interleavedRows) {
    static final TensorForm AS_NAMED = new TensorForm(false, false, 0);

    /** The part that the tensor as it is stored fills. */
    TensorPart of(TensorPart part) {
        return new TensorPart(
                part.tensorName(),
                part.firstColumn(),
                part.columns(),
                part.transposed() != turned,
                shifted ? 0f : part.offset());
    }

    /** Where the row that Hugging Face's tensor has at {@code row} is stored. */
    long storedRow(long row) {
        if (interleavedRows == 0) {
            return row;
        }
        long inHead = row % interleavedRows;
        int half = interleavedRows / 2;
        return row - inHead + inHead % half * 2 + inHead / half;
    }

    /** The row that Hugging Face's tensor has where {@code row} is stored: the reverse of {@link #storedRow}. */
    long namedRow(long row) {
        if (interleavedRows == 0) {
            return row;
        }
        long inHead = row % interleavedRows;
        return row - inHead + inHead % 2 * (interleavedRows / 2) + inHead / 2;
    }

    /** The elements of a vector, one for each row, in the order in which they are stored. */
    float[] stored(float[] named) {
        float[] stored = new float[named.length];
        for (int row = 0; row < named.length; row++) {
            stored[row] = named[(int) namedRow(row)];
        }
        return stored;
    }
}
