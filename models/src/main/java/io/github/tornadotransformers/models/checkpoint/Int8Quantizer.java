package io.github.tornadotransformers.models.checkpoint;

import java.util.Arrays;

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

    /** 1.5 * 2^23: floats of this size are whole numbers. */
    private static final float WHOLE_NUMBERS = 12_582_912f;

    private Int8Quantizer() {}

    /** @param maxMagnitude the largest magnitude of the block; NaN if it has one */
    public static float scale(float maxMagnitude) {
        return maxMagnitude / LIMIT;
    }

    public static byte quantize(float weight, float scale) {
        return rounded(weight / divisor(scale));
    }

    /** What makes 0 of a weight whose scale is 0. */
    private static float divisor(float scale) {
        return scale == 0f ? Float.POSITIVE_INFINITY : scale;
    }

    /** The limited quotient to the nearest whole number, ties to even, as an addition rounds; 0 for NaN. */
    private static byte rounded(float quotient) {
        float limited = Math.max(-LIMIT, Math.min(LIMIT, quotient));
        return (byte) (int) (limited + WHOLE_NUMBERS - WHOLE_NUMBERS);
    }

    /**
     * Quantizes one block of each column.
     *
     * @param tile floats, the first columns of {@code [Tile.SIDE][Tile.SIDE]}
     * @param firstRow of the block within the tile
     * @param rows in {@code [1, DType.BLOCK]}
     * @param quantized gets the bytes, laid out and placed as in {@code tile}
     * @param scales gets the columns' scales
     */
    static void quantizeBlock(float[] tile, int firstRow, int rows, int columns, byte[] quantized, float[] scales) {
        float[] divisors = new float[columns];
        Arrays.fill(scales, 0f);
        for (int row = firstRow; row < firstRow + rows; row++) {
            for (int column = 0; column < columns; column++) {
                scales[column] = Math.max(scales[column], Math.abs(tile[row * Tile.SIDE + column]));
            }
        }
        for (int column = 0; column < columns; column++) {
            scales[column] = scale(scales[column]);
            divisors[column] = divisor(scales[column]);
        }
        for (int row = firstRow; row < firstRow + rows; row++) {
            for (int column = 0; column < columns; column++) {
                int index = row * Tile.SIDE + column;
                quantized[index] = rounded(tile[index] / divisors[column]);
            }
        }
    }
}
