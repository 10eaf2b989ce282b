package io.github.tornadotransformers.models.checkpoint;

/**
 * Symmetric 8-bit quantization in blocks. A block is {@link DType#BLOCK} consecutive rows of one column (fewer at the end of a
 * layer's rows):
 *
 * <pre>
 * scale = max |w| / 127            (float32 quotient)
 * q     = rint(w / scale)          (float32 quotient, ties to even, limited to [-127, 127]; 0 where scale is 0)
 * w'    = q * scale                (what an engine computes with)
 * </pre>
 *
 * A block with a value that is not finite gets a scale that is not, so that the fault shows in whatever is computed from it.
 */
public final class Int8Quantizer {
    private static final float LIMIT = 127f;

    private Int8Quantizer() {}

    /** @param maxMagnitude the largest magnitude of the block; NaN if it has one */
    public static float scale(float maxMagnitude) {
        return maxMagnitude / LIMIT;
    }

    public static byte quantize(float weight, float scale) {
        if (scale == 0f) {
            return 0;
        }
        double rounded = Math.rint(weight / scale);
        return (byte) Math.max(-LIMIT, Math.min(LIMIT, rounded));
    }

    /**
     * Quantizes the rows of one block.
     *
     * @param tile floats, {@code [rows][columns]} from {@code offset} on
     * @param rows in {@code [1, DType.BLOCK]}
     * @param quantized gets the bytes, laid out and placed as in {@code tile}
     * @param scales gets the columns' scales from {@code scalesOffset} on
     */
    static void quantizeBlock(
            float[] tile, int offset, int rows, int columns, byte[] quantized, float[] scales, int scalesOffset) {
        for (int column = 0; column < columns; column++) {
            scales[scalesOffset + column] = 0f;
        }
        for (int row = 0; row < rows; row++) {
            int start = offset + row * columns;
            for (int column = 0; column < columns; column++) {
                scales[scalesOffset + column] = Math.max(scales[scalesOffset + column], Math.abs(tile[start + column]));
            }
        }
        for (int column = 0; column < columns; column++) {
            scales[scalesOffset + column] = scale(scales[scalesOffset + column]);
        }
        for (int row = 0; row < rows; row++) {
            int start = offset + row * columns;
            for (int column = 0; column < columns; column++) {
                quantized[start + column] = quantize(tile[start + column], scales[scalesOffset + column]);
            }
        }
    }
}
