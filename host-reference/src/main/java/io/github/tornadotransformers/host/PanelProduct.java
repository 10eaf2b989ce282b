package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of many rows of activations and a panel of {@link #COLUMNS} matrix columns. A slice of the panel is copied to
 * contiguous float32 memory once and then used by every row; {@link #ABREAST} rows by two vectors of sums stay in registers.
 * Product and sum are rounded apart, as the contract says.
 */
final class PanelProduct {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final int LANES = VectorMath.LANES;

    /** Columns of a panel: two vectors. */
    static final int COLUMNS = 2 * LANES;

    /** Rows that are multiplied together: with two vectors of columns, twelve sums in registers. */
    static final int ABREAST = 6;

    /** One slice of the panel, {@code [SLICE][COLUMNS]}. */
    private final float[] panel = new float[HostOps.SLICE * COLUMNS];

    private final float[] sums = new float[ABREAST * COLUMNS];
    private final float[] slices = new float[ABREAST * COLUMNS];
    private final float[] scales = new float[COLUMNS];
    private final int[] starts = new int[ABREAST];
    private float[] totals = new float[ABREAST * COLUMNS];

    /** {@code [rows][COLUMNS]}: what the last product gave. */
    float[] totals() {
        return totals;
    }

    /** {@code totals[r][c] = sum_k x[r][k] * matrix[k][column + c]}, sliced, for {@code c < columns <= COLUMNS}. */
    void product(float[] x, int rows, HostMatrix matrix, int column, int columns) {
        clearTotals(rows);
        int depth = matrix.rows();
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, depth - start);
            WidenedRows.copy(matrix, start, size, column, columns, panel, 0, COLUMNS);
            for (int row = 0; row < rows; row += ABREAST) {
                int count = Math.min(ABREAST, rows - row);
                for (int r = 0; r < ABREAST; r++) {
                    starts[r] = (row + Math.min(r, count - 1)) * depth + start;
                }
                if (matrix.dtype() == DType.INT8) {
                    quantizedSlice(x, matrix, start, size, column, columns);
                    VectorMath.add(totals, row * COLUMNS, slices, 0, count * COLUMNS);
                } else {
                    multiply(x, 0, size);
                    VectorMath.add(totals, row * COLUMNS, sums, 0, count * COLUMNS);
                }
            }
        }
    }

    private void quantizedSlice(float[] x, HostMatrix matrix, int start, int size, int column, int columns) {
        Arrays.fill(slices, 0f);
        for (int block = 0; block < size; block += DType.BLOCK) {
            WidenedRows.copyScales(matrix, start + block, column, columns, scales);
            multiply(x, block, Math.min(DType.BLOCK, size - block));
            for (int r = 0; r < ABREAST; r++) {
                VectorMath.addProduct(slices, r * COLUMNS, sums, r * COLUMNS, scales, COLUMNS);
            }
        }
    }

    private void clearTotals(int rows) {
        int size = rows * COLUMNS;
        if (totals.length < size) {
            totals = new float[size];
        }
        Arrays.fill(totals, 0, size, 0f);
    }

    /**
     * {@code totals[r][t] = sum_d x[xOffset + r * xStride + d] * matrix[d * matrixStride + matrixOffset + t]} for
     * {@code d < depth, t < columns}: one slice, whatever the depth. Rows before {@code firstRow} are left undefined.
     */
    void unslicedProduct(
            float[] x,
            int xOffset,
            int xStride,
            int firstRow,
            int rows,
            float[] matrix,
            int matrixOffset,
            int matrixStride,
            int depth,
            int columns) {
        clearTotals(rows);
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, depth - start);
            copyPanel(matrix, matrixOffset + start * matrixStride, matrixStride, size, columns);
            for (int row = firstRow; row < rows; row += ABREAST) {
                int count = Math.min(ABREAST, rows - row);
                for (int r = 0; r < ABREAST; r++) {
                    starts[r] = xOffset + (row + Math.min(r, count - 1)) * xStride + start;
                }
                multiplyFrom(x, size, totals, row * COLUMNS, count);
            }
        }
    }

    /**
     * {@code totals[r][d] = sum_{t < length + r} x[xOffset + r * xStride + t] * matrix[t * matrixStride + matrixOffset + d]},
     * sliced over t: the first row sums {@code length} terms, each further row one more.
     */
    void causalProduct(
            float[] x,
            int xOffset,
            int xStride,
            int length,
            int rows,
            float[] matrix,
            int matrixOffset,
            int matrixStride,
            int columns) {
        clearTotals(rows);
        for (int start = 0; start < length + rows - 1; start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, length + rows - 1 - start);
            copyPanel(matrix, matrixOffset + start * matrixStride, matrixStride, size, columns);
            int firstRow = Math.max(0, start + 1 - length);
            for (int row = firstRow; row < rows; row += ABREAST) {
                int count = Math.min(ABREAST, rows - row);
                for (int r = 0; r < ABREAST; r++) {
                    starts[r] = xOffset + (row + Math.min(r, count - 1)) * xStride + start;
                }
                int common = Math.min(size, length + row - start);
                multiply(x, 0, common);
                for (int r = 1; r < count; r++) {
                    int own = Math.min(size, length + row + r - start);
                    addTerms(x, starts[r], common, own, r * COLUMNS);
                }
                VectorMath.add(totals, row * COLUMNS, sums, 0, count * COLUMNS);
            }
        }
    }

    /** {@code sums[row][c] += x[offset + t] * panel[t][c]} for t from {@code first} to {@code end}, in order. */
    private void addTerms(float[] x, int offset, int first, int end, int row) {
        for (int t = first; t < end; t++) {
            FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + t]);
            FloatVector left = FloatVector.fromArray(FLOATS, sums, row);
            FloatVector right = FloatVector.fromArray(FLOATS, sums, row + LANES);
            left.add(FloatVector.fromArray(FLOATS, panel, t * COLUMNS).mul(factor))
                    .intoArray(sums, row);
            right.add(FloatVector.fromArray(FLOATS, panel, t * COLUMNS + LANES).mul(factor))
                    .intoArray(sums, row + LANES);
        }
    }

    private void copyPanel(float[] matrix, int offset, int stride, int rows, int columns) {
        for (int k = 0; k < rows; k++) {
            System.arraycopy(matrix, offset + k * stride, panel, k * COLUMNS, columns);
        }
    }

    /** {@code sums[r][c] = sum_k x[starts[r] + k] * panel[k][c]} for k from {@code first}, left to right from 0f. */
    private void multiply(float[] x, int first, int depth) {
        Arrays.fill(sums, 0f);
        accumulate(x, first, depth, sums);
    }

    /** As {@link #multiply}, but goes on from {@code into[offset..]}, of which only {@code count} rows are kept. */
    private void multiplyFrom(float[] x, int depth, float[] into, int offset, int count) {
        System.arraycopy(into, offset, sums, 0, count * COLUMNS);
        accumulate(x, 0, depth, sums);
        System.arraycopy(sums, 0, into, offset, count * COLUMNS);
    }

    /** {@code sums[r][c] += x[starts[r] + k] * panel[k][c]} for k from {@code first}, in order. */
    private void accumulate(float[] x, int first, int depth, float[] sums) {
        int x0 = starts[0] + first;
        int x1 = starts[1] + first;
        int x2 = starts[2] + first;
        int x3 = starts[3] + first;
        int x4 = starts[4] + first;
        int x5 = starts[5] + first;
        float[] panel = this.panel;
        FloatVector a0 = FloatVector.fromArray(FLOATS, sums, 0);
        FloatVector b0 = FloatVector.fromArray(FLOATS, sums, LANES);
        FloatVector a1 = FloatVector.fromArray(FLOATS, sums, COLUMNS);
        FloatVector b1 = FloatVector.fromArray(FLOATS, sums, COLUMNS + LANES);
        FloatVector a2 = FloatVector.fromArray(FLOATS, sums, 2 * COLUMNS);
        FloatVector b2 = FloatVector.fromArray(FLOATS, sums, 2 * COLUMNS + LANES);
        FloatVector a3 = FloatVector.fromArray(FLOATS, sums, 3 * COLUMNS);
        FloatVector b3 = FloatVector.fromArray(FLOATS, sums, 3 * COLUMNS + LANES);
        FloatVector a4 = FloatVector.fromArray(FLOATS, sums, 4 * COLUMNS);
        FloatVector b4 = FloatVector.fromArray(FLOATS, sums, 4 * COLUMNS + LANES);
        FloatVector a5 = FloatVector.fromArray(FLOATS, sums, 5 * COLUMNS);
        FloatVector b5 = FloatVector.fromArray(FLOATS, sums, 5 * COLUMNS + LANES);
        int at = first * COLUMNS;
        for (int k = 0; k < depth; k++) {
            FloatVector left = FloatVector.fromArray(FLOATS, panel, at);
            FloatVector right = FloatVector.fromArray(FLOATS, panel, at + LANES);
            at += COLUMNS;
            FloatVector factor = FloatVector.broadcast(FLOATS, x[x0 + k]);
            a0 = a0.add(left.mul(factor));
            b0 = b0.add(right.mul(factor));
            factor = FloatVector.broadcast(FLOATS, x[x1 + k]);
            a1 = a1.add(left.mul(factor));
            b1 = b1.add(right.mul(factor));
            factor = FloatVector.broadcast(FLOATS, x[x2 + k]);
            a2 = a2.add(left.mul(factor));
            b2 = b2.add(right.mul(factor));
            factor = FloatVector.broadcast(FLOATS, x[x3 + k]);
            a3 = a3.add(left.mul(factor));
            b3 = b3.add(right.mul(factor));
            factor = FloatVector.broadcast(FLOATS, x[x4 + k]);
            a4 = a4.add(left.mul(factor));
            b4 = b4.add(right.mul(factor));
            factor = FloatVector.broadcast(FLOATS, x[x5 + k]);
            a5 = a5.add(left.mul(factor));
            b5 = b5.add(right.mul(factor));
        }
        a0.intoArray(sums, 0);
        b0.intoArray(sums, LANES);
        a1.intoArray(sums, COLUMNS);
        b1.intoArray(sums, COLUMNS + LANES);
        a2.intoArray(sums, 2 * COLUMNS);
        b2.intoArray(sums, 2 * COLUMNS + LANES);
        a3.intoArray(sums, 3 * COLUMNS);
        b3.intoArray(sums, 3 * COLUMNS + LANES);
        a4.intoArray(sums, 4 * COLUMNS);
        b4.intoArray(sums, 4 * COLUMNS + LANES);
        a5.intoArray(sums, 5 * COLUMNS);
        b5.intoArray(sums, 5 * COLUMNS + LANES);
    }
}
