package io.github.tornadotransformers.host;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of one row of activations and rows of an array, such as the keys or values of a cache. Lanes are columns, and
 * several rows are added at a time, so that each partial sum is loaded and stored once per {@link #ABREAST} rows.
 */
final class RowSweep {
    /** Rows that are added in one pass over the partial sums. */
    private static final int ABREAST = 8;

    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final int LANES = VectorMath.LANES;

    private RowSweep() {}

    /** {@code sums[c] += x[offset + k] * rows[first + k * stride + c]} for {@code k < count}, in order. */
    static void addArrayRows(
            float[] x, int offset, int count, float[] rows, int first, int stride, int columns, float[] sums) {
        int k = 0;
        for (; k <= count - ABREAST; k += ABREAST) {
            addEight(x, offset + k, rows, first + k * stride, stride, columns, sums);
        }
        for (; k < count; k++) {
            addOne(x[offset + k], rows, first + k * stride, columns, sums);
        }
    }

    private static void addEight(float[] x, int k, float[] rows, int first, int stride, int columns, float[] sums) {
        float x0 = x[k];
        float x1 = x[k + 1];
        float x2 = x[k + 2];
        float x3 = x[k + 3];
        float x4 = x[k + 4];
        float x5 = x[k + 5];
        float x6 = x[k + 6];
        float x7 = x[k + 7];
        int c = 0;
        for (; c <= columns - LANES; c += LANES) {
            int at = first + c;
            FloatVector sum = FloatVector.fromArray(FLOATS, sums, c);
            sum = FloatVector.fromArray(FLOATS, rows, at).fma(FloatVector.broadcast(FLOATS, x0), sum);
            sum = FloatVector.fromArray(FLOATS, rows, at + stride).fma(FloatVector.broadcast(FLOATS, x1), sum);
            sum = FloatVector.fromArray(FLOATS, rows, at + 2 * stride).fma(FloatVector.broadcast(FLOATS, x2), sum);
            sum = FloatVector.fromArray(FLOATS, rows, at + 3 * stride).fma(FloatVector.broadcast(FLOATS, x3), sum);
            sum = FloatVector.fromArray(FLOATS, rows, at + 4 * stride).fma(FloatVector.broadcast(FLOATS, x4), sum);
            sum = FloatVector.fromArray(FLOATS, rows, at + 5 * stride).fma(FloatVector.broadcast(FLOATS, x5), sum);
            sum = FloatVector.fromArray(FLOATS, rows, at + 6 * stride).fma(FloatVector.broadcast(FLOATS, x6), sum);
            sum = FloatVector.fromArray(FLOATS, rows, at + 7 * stride).fma(FloatVector.broadcast(FLOATS, x7), sum);
            sum.intoArray(sums, c);
        }
        for (; c < columns; c++) {
            float sum = sums[c];
            for (int row = 0; row < ABREAST; row++) {
                sum = Math.fma(x[k + row], rows[first + row * stride + c], sum);
            }
            sums[c] = sum;
        }
    }

    private static void addOne(float x, float[] rows, int first, int columns, float[] sums) {
        int c = 0;
        for (; c <= columns - LANES; c += LANES) {
            FloatVector.fromArray(FLOATS, rows, first + c)
                    .fma(FloatVector.broadcast(FLOATS, x), FloatVector.fromArray(FLOATS, sums, c))
                    .intoArray(sums, c);
        }
        for (; c < columns; c++) {
            sums[c] = Math.fma(x, rows[first + c], sums[c]);
        }
    }
}
