package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of one row of activations and a block of a matrix's columns: lanes are columns, and the matrix is read once,
 * several of its rows at a time, so that each partial sum is loaded and stored once per {@link #ABREAST} rows. Memory
 * bandwidth is what this is for.
 */
final class RowSweep {
    /** Matrix rows that are added in one pass over the partial sums. */
    static final int ABREAST = EightRows.COUNT;

    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final int LANES = VectorMath.LANES;

    private final float[] slice;
    private final float[] block;
    private final float[] widened;
    private final float[] scales;

    /** @param width columns of the widest block */
    RowSweep(int width) {
        slice = new float[width];
        block = new float[width];
        widened = new float[ABREAST * width];
        scales = new float[width];
    }

    /** {@code total[c] = sum_k x[offset + k] * matrix[k][column + c]}, sliced, for {@code c < columns}. */
    void product(float[] x, int offset, HostMatrix matrix, int column, int columns, float[] total) {
        Arrays.fill(total, 0, columns, 0f);
        for (int start = 0; start < matrix.rows(); start += HostOps.SLICE) {
            int end = Math.min(start + HostOps.SLICE, matrix.rows());
            Arrays.fill(slice, 0, columns, 0f);
            if (matrix.dtype() == DType.INT8) {
                addQuantizedSlice(x, offset, matrix, start, end, column, columns);
            } else {
                int whole = addWholeGroups(x, offset, matrix, start, end, column, columns, slice);
                if (end == matrix.rows() && matrix.dtype() == DType.BF16) {
                    int covered = EightRows.covered(DType.BF16, columns);
                    EightRows.interleave(slice, covered, widened);
                    EightRows.interleave(total, covered, widened);
                }
                addElements(x, offset, matrix, whole, end, column, 0, columns, slice);
            }
            VectorMath.add(total, 0, slice, 0, columns);
        }
    }

    private void addQuantizedSlice(
            float[] x, int offset, HostMatrix matrix, int start, int end, int column, int columns) {
        for (int first = start; first < end; first += DType.BLOCK) {
            int last = Math.min(first + DType.BLOCK, end);
            Arrays.fill(block, 0, columns, 0f);
            int whole = addWholeGroups(x, offset, matrix, first, last, column, columns, block);
            addElements(x, offset, matrix, whole, last, column, 0, columns, block);
            WidenedRows.copyScales(matrix, first, column, columns, scales);
            VectorMath.addProduct(slice, 0, block, 0, scales, 0, columns);
        }
    }

    /**
     * {@code sums[c] += x[offset + k] * matrix[k][column + c]} for k from {@code start}, in order, as long as there are
     * {@link #ABREAST} rows before {@code end}. BF16 sums lie as {@link EightRows} says.
     *
     * @return the first row that was not added
     */
    private int addWholeGroups(
            float[] x, int offset, HostMatrix matrix, int start, int end, int column, int columns, float[] sums) {
        int covered = EightRows.covered(matrix.dtype(), columns);
        MemorySegment elements = matrix.elements();
        int stride = matrix.columns();
        int k = start;
        for (; k <= end - ABREAST; k += ABREAST) {
            long first = (long) k * stride + column;
            switch (matrix.dtype()) {
                case F32 -> EightRows.addFloats(elements, first, stride, x, offset + k, covered, sums);
                case BF16 -> EightRows.addBf16(elements, first, stride, x, offset + k, covered, sums);
                case INT8 -> EightRows.addBytes(elements, first, stride, x, offset + k, covered, sums);
                case F16 -> addWidened(x, offset, matrix, k, column, columns, sums);
            }
            if (matrix.dtype() != DType.F16) {
                addElements(x, offset, matrix, k, k + ABREAST, column, covered, columns, sums);
            }
        }
        return k;
    }

    private void addWidened(float[] x, int offset, HostMatrix matrix, int row, int column, int columns, float[] sums) {
        WidenedRows.copy(matrix, row, ABREAST, column, columns, widened, 0, columns);
        addEight(x, offset + row, widened, 0, columns, columns, sums);
    }

    /** As {@link #addWholeGroups}, one by one, for rows up to {@code end} and columns from {@code first}. */
    private static void addElements(
            float[] x,
            int offset,
            HostMatrix matrix,
            int start,
            int end,
            int column,
            int first,
            int columns,
            float[] sums) {
        for (int c = first; c < columns; c++) {
            float sum = sums[c];
            for (int k = start; k < end; k++) {
                sum += x[offset + k] * matrix.element(k, column + c);
            }
            sums[c] = sum;
        }
    }

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
            sum = sum.add(FloatVector.fromArray(FLOATS, rows, at).mul(x0));
            sum = sum.add(FloatVector.fromArray(FLOATS, rows, at + stride).mul(x1));
            sum = sum.add(FloatVector.fromArray(FLOATS, rows, at + 2 * stride).mul(x2));
            sum = sum.add(FloatVector.fromArray(FLOATS, rows, at + 3 * stride).mul(x3));
            sum = sum.add(FloatVector.fromArray(FLOATS, rows, at + 4 * stride).mul(x4));
            sum = sum.add(FloatVector.fromArray(FLOATS, rows, at + 5 * stride).mul(x5));
            sum = sum.add(FloatVector.fromArray(FLOATS, rows, at + 6 * stride).mul(x6));
            sum = sum.add(FloatVector.fromArray(FLOATS, rows, at + 7 * stride).mul(x7));
            sum.intoArray(sums, c);
        }
        for (; c < columns; c++) {
            float sum = sums[c];
            for (int row = 0; row < ABREAST; row++) {
                sum += x[k + row] * rows[first + row * stride + c];
            }
            sums[c] = sum;
        }
    }

    private static void addOne(float x, float[] rows, int first, int columns, float[] sums) {
        int c = 0;
        for (; c <= columns - LANES; c += LANES) {
            FloatVector.fromArray(FLOATS, sums, c)
                    .add(FloatVector.fromArray(FLOATS, rows, first + c).mul(x))
                    .intoArray(sums, c);
        }
        for (; c < columns; c++) {
            sums[c] += x * rows[first + c];
        }
    }
}
