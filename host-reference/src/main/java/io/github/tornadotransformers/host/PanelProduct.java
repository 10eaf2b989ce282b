package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of many rows of activations and a panel of {@link #COLUMNS} matrix columns. A slice of the panel is copied to
 * contiguous float32 memory once and then used by every row; {@link #ABREAST} rows by three vectors of sums stay in registers.
 * Product and sum are rounded apart, as the contract says.
 */
final class PanelProduct {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final int LANES = VectorMath.LANES;

    /** Columns of a panel: three vectors. */
    static final int COLUMNS = 3 * LANES;

    /** Rows that are multiplied together: twelve sums in registers, and few loads for each. */
    static final int ABREAST = 4;

    /** One slice of the panel, {@code [depth][COLUMNS]}. */
    private float[] panel = new float[HostOps.SLICE * COLUMNS];

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
                startAt(row * depth + start, depth, count);
                if (matrix.dtype() == DType.INT8) {
                    quantizedSlice(x, matrix, start, size, column, columns);
                    VectorMath.add(totals, row * COLUMNS, slices, 0, count * COLUMNS);
                } else {
                    multiply(x, 0, size, sums, 0);
                    VectorMath.add(totals, row * COLUMNS, sums, 0, count * COLUMNS);
                }
            }
        }
    }

    private void quantizedSlice(float[] x, HostMatrix matrix, int start, int size, int column, int columns) {
        Arrays.fill(slices, 0f);
        for (int block = 0; block < size; block += DType.BLOCK) {
            WidenedRows.copyScales(matrix, start + block, column, columns, scales);
            multiply(x, block, Math.min(DType.BLOCK, size - block), sums, 0);
            for (int r = 0; r < ABREAST; r++) {
                VectorMath.addProduct(slices, r * COLUMNS, sums, r * COLUMNS, scales, COLUMNS);
            }
        }
    }

    /** Room for a group of rows more: the last group may be written whole. */
    private void clearTotals(int rows) {
        int size = (rows + ABREAST) * COLUMNS;
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
        copyPanel(matrix, matrixOffset, matrixStride, depth, columns);
        for (int row = firstRow; row < rows; row += ABREAST) {
            startAt(xOffset + row * xStride, xStride, Math.min(ABREAST, rows - row));
            multiply(x, 0, depth, totals, row * COLUMNS);
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
                startAt(xOffset + row * xStride + start, xStride, count);
                int common = Math.min(size, length + row - start);
                multiply(x, 0, common, sums, 0);
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
            for (int c = 0; c < COLUMNS; c += LANES) {
                FloatVector product =
                        FloatVector.fromArray(FLOATS, panel, t * COLUMNS + c).mul(factor);
                FloatVector.fromArray(FLOATS, sums, row + c).add(product).intoArray(sums, row + c);
            }
        }
    }

    private void copyPanel(float[] matrix, int offset, int stride, int rows, int columns) {
        if (panel.length < rows * COLUMNS) {
            panel = new float[rows * COLUMNS];
        }
        for (int k = 0; k < rows; k++) {
            System.arraycopy(matrix, offset + k * stride, panel, k * COLUMNS, columns);
        }
    }

    /** Sets where the rows of a group begin; where there are fewer than a group, the last stands in for the missing. */
    private void startAt(int first, int stride, int count) {
        for (int r = 0; r < ABREAST; r++) {
            starts[r] = first + Math.min(r, count - 1) * stride;
        }
    }

    /**
     * {@code into[offset + r * COLUMNS + c] = sum_k x[starts[r] + k] * panel[k][c]} for k from {@code first}, left to right from
     * 0f, for a group of rows. It does nothing else: past some number of vector operations the compiler no longer inlines
     * them, and each vector becomes an object on the heap.
     */
    private void multiply(float[] x, int first, int depth, float[] into, int offset) {
        int x0 = starts[0] + first;
        int x1 = starts[1] + first;
        int x2 = starts[2] + first;
        int x3 = starts[3] + first;
        float[] panel = this.panel;
        FloatVector a0 = FloatVector.zero(FLOATS);
        FloatVector b0 = FloatVector.zero(FLOATS);
        FloatVector c0 = FloatVector.zero(FLOATS);
        FloatVector a1 = FloatVector.zero(FLOATS);
        FloatVector b1 = FloatVector.zero(FLOATS);
        FloatVector c1 = FloatVector.zero(FLOATS);
        FloatVector a2 = FloatVector.zero(FLOATS);
        FloatVector b2 = FloatVector.zero(FLOATS);
        FloatVector c2 = FloatVector.zero(FLOATS);
        FloatVector a3 = FloatVector.zero(FLOATS);
        FloatVector b3 = FloatVector.zero(FLOATS);
        FloatVector c3 = FloatVector.zero(FLOATS);
        int at = first * COLUMNS;
        for (int k = 0; k < depth; k++) {
            FloatVector left = FloatVector.fromArray(FLOATS, panel, at);
            FloatVector middle = FloatVector.fromArray(FLOATS, panel, at + LANES);
            FloatVector right = FloatVector.fromArray(FLOATS, panel, at + 2 * LANES);
            at += COLUMNS;
            FloatVector factor = FloatVector.broadcast(FLOATS, x[x0 + k]);
            a0 = a0.add(left.mul(factor));
            b0 = b0.add(middle.mul(factor));
            c0 = c0.add(right.mul(factor));
            factor = FloatVector.broadcast(FLOATS, x[x1 + k]);
            a1 = a1.add(left.mul(factor));
            b1 = b1.add(middle.mul(factor));
            c1 = c1.add(right.mul(factor));
            factor = FloatVector.broadcast(FLOATS, x[x2 + k]);
            a2 = a2.add(left.mul(factor));
            b2 = b2.add(middle.mul(factor));
            c2 = c2.add(right.mul(factor));
            factor = FloatVector.broadcast(FLOATS, x[x3 + k]);
            a3 = a3.add(left.mul(factor));
            b3 = b3.add(middle.mul(factor));
            c3 = c3.add(right.mul(factor));
        }
        a0.intoArray(into, offset);
        b0.intoArray(into, offset + LANES);
        c0.intoArray(into, offset + 2 * LANES);
        a1.intoArray(into, offset + COLUMNS);
        b1.intoArray(into, offset + COLUMNS + LANES);
        c1.intoArray(into, offset + COLUMNS + 2 * LANES);
        a2.intoArray(into, offset + 2 * COLUMNS);
        b2.intoArray(into, offset + 2 * COLUMNS + LANES);
        c2.intoArray(into, offset + 2 * COLUMNS + 2 * LANES);
        a3.intoArray(into, offset + 3 * COLUMNS);
        b3.intoArray(into, offset + 3 * COLUMNS + LANES);
        c3.intoArray(into, offset + 3 * COLUMNS + 2 * LANES);
    }
}
