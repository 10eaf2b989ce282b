package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of many rows of activations and a panel of {@link #COLUMNS} matrix columns. A slice of the panel is copied to
 * contiguous float32 memory once and then used by every row; {@link #ABREAST} rows by three vectors of sums stay in registers.
 * A product is fused into its sum, as the contract says.
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
    private final float[] scales = new float[HostOps.SLICE / DType.BLOCK * COLUMNS];
    private final WidenedRows widenedRows = new WidenedRows();
    private final int[] starts = new int[ABREAST];
    private float[] totals = new float[ABREAST * COLUMNS];

    /** {@code [rows][COLUMNS]}: what the last product gave. */
    float[] totals() {
        return totals;
    }

    /**
     * {@code totals[r][c] = sum_k x[xOffset + r * depth + k] * matrix[k][column + c]}, sliced, for
     * {@code c < columns <= COLUMNS}.
     */
    void product(float[] x, int xOffset, int rows, HostMatrix matrix, int column, int columns) {
        clearTotals(rows);
        int depth = matrix.rows();
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, depth - start);
            widenedRows.copy(matrix, start, size, column, columns, panel, 0, COLUMNS);
            if (matrix.dtype() == DType.INT8) {
                for (int block = 0; block < size; block += DType.BLOCK) {
                    int to = block / DType.BLOCK * COLUMNS;
                    WidenedRows.copyScales(matrix, start + block, column, columns, scales, to);
                }
            }
            for (int row = 0; row < rows; row += ABREAST) {
                int count = Math.min(ABREAST, rows - row);
                startAt(xOffset + row * depth + start, depth, count);
                if (matrix.dtype() == DType.INT8) {
                    quantizedSlice(x, size);
                    VectorMath.add(totals, row * COLUMNS, slices, 0, count * COLUMNS);
                } else {
                    multiply(x, 0, size);
                    VectorMath.add(totals, row * COLUMNS, sums, 0, count * COLUMNS);
                }
            }
        }
    }

    private void quantizedSlice(float[] x, int size) {
        Arrays.fill(slices, 0f);
        for (int block = 0; block < size; block += DType.BLOCK) {
            multiply(x, block, Math.min(DType.BLOCK, size - block));
            int scale = block / DType.BLOCK * COLUMNS;
            for (int r = 0; r < ABREAST; r++) {
                VectorMath.addProduct(slices, r * COLUMNS, sums, r * COLUMNS, scales, scale, COLUMNS);
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

    /** {@code totals[r][c] = sum_{k < depth} x[r * depth + k] * matrix[k][c]}, sliced over k. */
    void product(float[] x, int rows, int depth, PanelSource matrix) {
        clearTotals(rows);
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, depth - start);
            matrix.copy(start, size, panel);
            for (int row = 0; row < rows; row += ABREAST) {
                int count = Math.min(ABREAST, rows - row);
                startAt(row * depth + start, depth, count);
                multiply(x, 0, size);
                VectorMath.add(totals, row * COLUMNS, sums, 0, count * COLUMNS);
            }
        }
    }

    /**
     * {@code totals[r][c] = sum_{k < depth} x[xOffset + r * xStride + k] * matrix[k][c]}: one slice, whatever the depth.
     * Rows before {@code firstRow} are left undefined.
     */
    void unslicedProduct(float[] x, int xOffset, int xStride, int firstRow, int rows, int depth, PanelSource matrix) {
        clearTotals(rows);
        ensurePanel(depth);
        matrix.copy(0, depth, panel);
        for (int row = firstRow; row < rows; row += ABREAST) {
            startAt(xOffset + row * xStride, xStride, Math.min(ABREAST, rows - row));
            accumulate(x, 0, depth, totals, row * COLUMNS);
        }
    }

    /**
     * {@code totals[r][c] = sum_k x[xOffset + r * xStride + k] * matrix[k][c]}, sliced over k, for the last {@code window}
     * of {@code k < length + r}: the first row sums terms up to {@code length}, each further row one more.
     */
    void causalProduct(float[] x, int xOffset, int xStride, int length, int window, int rows, PanelSource matrix) {
        clearTotals(rows);
        int first = length > window ? length - window : 0;
        for (int start = first / HostOps.SLICE * HostOps.SLICE; start < length + rows - 1; start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, length + rows - 1 - start);
            matrix.copy(start, size, panel);
            int firstRow = Math.max(0, start + 1 - length);
            int endRow = (int) Math.min(rows, (long) start + size + window - length);
            for (int row = firstRow; row < endRow; row += ABREAST) {
                int count = Math.min(ABREAST, endRow - row);
                startAt(xOffset + row * xStride + start, xStride, count);
                causalSlice(x, length + row - start, window, size, count);
                VectorMath.add(totals, row * COLUMNS, sums, 0, count * COLUMNS);
            }
        }
    }

    /**
     * {@code sums[r][c]} of one slice: row r sums the last {@code window} of its {@code end + r} terms, as far as they are in
     * {@code [0, size)}. What all rows have in common is summed together.
     */
    private void causalSlice(float[] x, int end, int window, int size, int count) {
        int last = end + count - 1;
        int commonFirst = last > window ? last - window : 0;
        int commonEnd = Math.max(commonFirst, Math.min(size, end));
        Arrays.fill(sums, 0f);
        for (int r = 0; r < count; r++) {
            int own = end + r > window ? end + r - window : 0;
            addTerms(x, starts[r], own, Math.min(commonFirst, Math.min(size, end + r)), r * COLUMNS);
        }
        accumulate(x, commonFirst, Math.min(size, commonEnd) - commonFirst, sums, 0);
        for (int r = 0; r < count; r++) {
            addTerms(x, starts[r], commonEnd, Math.min(size, end + r), r * COLUMNS);
        }
    }

    /**
     * {@code totals[r][c] = sum_{first + c <= k < depth} x[xOffset + r * xStride + k] * matrix[k][c]}, sliced over k: the
     * first column sums all terms from {@code first} on, each further column one fewer.
     */
    void anticausalProduct(float[] x, int xOffset, int xStride, int rows, int first, int depth, PanelSource matrix) {
        clearTotals(rows);
        for (int start = first; start < depth; start = (start / HostOps.SLICE + 1) * HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE - start % HostOps.SLICE, depth - start);
            int ramp = Math.clamp(first + COLUMNS - 1 - start, 0, size);
            matrix.copy(start, size, panel);
            for (int row = 0; row < rows; row += ABREAST) {
                int count = Math.min(ABREAST, rows - row);
                startAt(xOffset + row * xStride + start, xStride, count);
                Arrays.fill(sums, 0f);
                for (int r = 0; r < count; r++) {
                    addRamp(x, starts[r], start - first, ramp, r * COLUMNS);
                }
                accumulate(x, ramp, size - ramp, sums, 0);
                VectorMath.add(totals, row * COLUMNS, sums, 0, count * COLUMNS);
            }
        }
    }

    /** {@code sums[row][c] += x[offset + k] * panel[k][c]} for {@code k < end, c <= above + k}, in order. */
    private void addRamp(float[] x, int offset, int above, int end, int row) {
        for (int c = 0; c < COLUMNS; c += LANES) {
            FloatVector sum = FloatVector.fromArray(FLOATS, sums, row + c);
            for (int k = Math.max(0, c - above); k < end; k++) {
                FloatVector fused = FloatVector.fromArray(FLOATS, panel, k * COLUMNS + c)
                        .fma(FloatVector.broadcast(FLOATS, x[offset + k]), sum);
                sum = sum.blend(fused, FLOATS.indexInRange(c, above + k + 1));
            }
            sum.intoArray(sums, row + c);
        }
    }

    /** {@code sums[row][c] += x[offset + t] * panel[t][c]} for t from {@code first} to {@code end}, in order. */
    private void addTerms(float[] x, int offset, int first, int end, int row) {
        for (int t = first; t < end; t++) {
            FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + t]);
            for (int c = 0; c < COLUMNS; c += LANES) {
                FloatVector.fromArray(FLOATS, panel, t * COLUMNS + c)
                        .fma(factor, FloatVector.fromArray(FLOATS, sums, row + c))
                        .intoArray(sums, row + c);
            }
        }
    }

    private void ensurePanel(int depth) {
        if (panel.length < depth * COLUMNS) {
            panel = new float[depth * COLUMNS];
        }
    }

    /** Sets where the rows of a group begin; where there are fewer than a group, the last stands in for the missing. */
    private void startAt(int first, int stride, int count) {
        for (int r = 0; r < ABREAST; r++) {
            starts[r] = first + Math.min(r, count - 1) * stride;
        }
    }

    /** {@code sums[r][c] = sum_k x[starts[r] + k] * panel[k][c]} for k from {@code first}, left to right from 0f. */
    private void multiply(float[] x, int first, int depth) {
        Arrays.fill(sums, 0f);
        accumulate(x, first, depth, sums, 0);
    }

    /**
     * {@code into[offset + r * COLUMNS + c] += x[starts[r] + k] * panel[k][c]} for k from {@code first}, in order, for a
     * group of rows. It does nothing else: past some number of vector operations the compiler no longer inlines them, and
     * each vector becomes an object on the heap.
     */
    private void accumulate(float[] x, int first, int depth, float[] into, int offset) {
        int x0 = starts[0] + first;
        int x1 = starts[1] + first;
        int x2 = starts[2] + first;
        int x3 = starts[3] + first;
        float[] panel = this.panel;
        FloatVector a0 = FloatVector.fromArray(FLOATS, into, offset);
        FloatVector b0 = FloatVector.fromArray(FLOATS, into, offset + LANES);
        FloatVector c0 = FloatVector.fromArray(FLOATS, into, offset + 2 * LANES);
        FloatVector a1 = FloatVector.fromArray(FLOATS, into, offset + COLUMNS);
        FloatVector b1 = FloatVector.fromArray(FLOATS, into, offset + COLUMNS + LANES);
        FloatVector c1 = FloatVector.fromArray(FLOATS, into, offset + COLUMNS + 2 * LANES);
        FloatVector a2 = FloatVector.fromArray(FLOATS, into, offset + 2 * COLUMNS);
        FloatVector b2 = FloatVector.fromArray(FLOATS, into, offset + 2 * COLUMNS + LANES);
        FloatVector c2 = FloatVector.fromArray(FLOATS, into, offset + 2 * COLUMNS + 2 * LANES);
        FloatVector a3 = FloatVector.fromArray(FLOATS, into, offset + 3 * COLUMNS);
        FloatVector b3 = FloatVector.fromArray(FLOATS, into, offset + 3 * COLUMNS + LANES);
        FloatVector c3 = FloatVector.fromArray(FLOATS, into, offset + 3 * COLUMNS + 2 * LANES);
        int at = first * COLUMNS;
        int k = 0;
        for (; k < depth - 1; k += 2) {
            FloatVector left = FloatVector.fromArray(FLOATS, panel, at);
            FloatVector middle = FloatVector.fromArray(FLOATS, panel, at + LANES);
            FloatVector right = FloatVector.fromArray(FLOATS, panel, at + 2 * LANES);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[x0 + k]);
            a0 = left.fma(factor, a0);
            b0 = middle.fma(factor, b0);
            c0 = right.fma(factor, c0);
            factor = FloatVector.broadcast(FLOATS, x[x1 + k]);
            a1 = left.fma(factor, a1);
            b1 = middle.fma(factor, b1);
            c1 = right.fma(factor, c1);
            factor = FloatVector.broadcast(FLOATS, x[x2 + k]);
            a2 = left.fma(factor, a2);
            b2 = middle.fma(factor, b2);
            c2 = right.fma(factor, c2);
            factor = FloatVector.broadcast(FLOATS, x[x3 + k]);
            a3 = left.fma(factor, a3);
            b3 = middle.fma(factor, b3);
            c3 = right.fma(factor, c3);
            left = FloatVector.fromArray(FLOATS, panel, at + COLUMNS);
            middle = FloatVector.fromArray(FLOATS, panel, at + COLUMNS + LANES);
            right = FloatVector.fromArray(FLOATS, panel, at + COLUMNS + 2 * LANES);
            factor = FloatVector.broadcast(FLOATS, x[x0 + k + 1]);
            a0 = left.fma(factor, a0);
            b0 = middle.fma(factor, b0);
            c0 = right.fma(factor, c0);
            factor = FloatVector.broadcast(FLOATS, x[x1 + k + 1]);
            a1 = left.fma(factor, a1);
            b1 = middle.fma(factor, b1);
            c1 = right.fma(factor, c1);
            factor = FloatVector.broadcast(FLOATS, x[x2 + k + 1]);
            a2 = left.fma(factor, a2);
            b2 = middle.fma(factor, b2);
            c2 = right.fma(factor, c2);
            factor = FloatVector.broadcast(FLOATS, x[x3 + k + 1]);
            a3 = left.fma(factor, a3);
            b3 = middle.fma(factor, b3);
            c3 = right.fma(factor, c3);
            at += 2 * COLUMNS;
        }
        if (k < depth) {
            FloatVector left = FloatVector.fromArray(FLOATS, panel, at);
            FloatVector middle = FloatVector.fromArray(FLOATS, panel, at + LANES);
            FloatVector right = FloatVector.fromArray(FLOATS, panel, at + 2 * LANES);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[x0 + k]);
            a0 = left.fma(factor, a0);
            b0 = middle.fma(factor, b0);
            c0 = right.fma(factor, c0);
            factor = FloatVector.broadcast(FLOATS, x[x1 + k]);
            a1 = left.fma(factor, a1);
            b1 = middle.fma(factor, b1);
            c1 = right.fma(factor, c1);
            factor = FloatVector.broadcast(FLOATS, x[x2 + k]);
            a2 = left.fma(factor, a2);
            b2 = middle.fma(factor, b2);
            c2 = right.fma(factor, c2);
            factor = FloatVector.broadcast(FLOATS, x[x3 + k]);
            a3 = left.fma(factor, a3);
            b3 = middle.fma(factor, b3);
            c3 = right.fma(factor, c3);
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
