package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.BlockData;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of one row of activations and panels of a matrix in a block format, read where it lies. Lanes are columns; four vectors
 * of sums stay in registers for a block. There is a loop for each width of quants; what is done once a block goes by way of arrays.
 */
final class BlockSweep {
    private static final int PANEL = WeightLayout.PANEL;
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = VectorMath.INTS;
    private static final VectorSpecies<Byte> BYTES = WidenedRows.BYTES;
    private static final int LANES = VectorMath.LANES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final int NIBBLE = 0xF;
    private static final int SUMS = 4;

    /** Panels that are read side by side. */
    static final int ABREAST = Math.max(1, SUMS * LANES / PANEL);

    /** Room for the sums of so many columns. */
    static final int COLUMNS = ABREAST * PANEL;

    private final float[] sums = new float[SUMS * LANES];
    private final float[] slice = new float[COLUMNS];

    /** {@code sums[b]} = the sum of a row's inputs in block b, left to right. */
    static float[] blockSums(float[] x, int offset, int depth, BlockFormat format) {
        float[] sums = new float[format.hasMinimum() ? depth / format.blockRows() : 0];
        for (int block = 0; block < sums.length; block++) {
            float sum = 0f;
            int first = offset + block * format.blockRows();
            for (int k = first; k < first + format.blockRows(); k++) {
                sum += x[k];
            }
            sums[block] = sum;
        }
        return sums;
    }

    /**
     * {@code total[c] = sum_k x[offset + k] * matrix[k][column + c]}, sliced, for the columns of {@link #ABREAST} panels, or of one
     * where the others would lie behind the last.
     *
     * @param blockSums of {@link #blockSums}
     * @param total {@code [COLUMNS]}
     */
    void product(float[] x, int offset, float[] blockSums, BlockData matrix, int column, float[] total) {
        BlockFormat format = matrix.format();
        long next = column + PANEL < matrix.columns() ? format.panelBytes(matrix.rows()) : 0;
        Arrays.fill(total, 0, COLUMNS, 0f);
        for (int start = 0; start < matrix.rows(); start += HostOps.SLICE) {
            Arrays.fill(slice, 0f);
            int end = Math.min(start + HostOps.SLICE, matrix.rows());
            for (int row = start; row < end; row += format.blockRows()) {
                long group = matrix.groupAt(row, column);
                float inputs = format.hasMinimum() ? blockSums[row / format.blockRows()] : 0f;
                for (int c = 0; c < COLUMNS; c += SUMS * LANES) {
                    block(x, offset + row, matrix, row % format.groupRows(), group, next, c);
                    addScaled(matrix, row % format.groupRows() / format.blockRows(), group, next, c, inputs);
                }
            }
            VectorMath.add(total, 0, slice, 0, COLUMNS);
        }
    }

    /** {@code sums = sum_k x[k] * quant[row + k]} over a block. */
    private void block(float[] x, int at, BlockData matrix, int row, long group, long next, int c) {
        BlockFormat format = matrix.format();
        MemorySegment data = matrix.data();
        int rows = format.blockRows();
        if (format.bits() == Byte.SIZE) {
            bytes(x, at, data, group + format.quantsAt() + (long) row * PANEL, next, c, rows, sums);
            return;
        }
        long first = group + format.quantsAt() + (long) (row / 2) * PANEL;
        switch (format.bits()) {
            case 4 -> nibbles(x, at, data, first, next, c, rows, format.offset(), sums);
            case 5 -> {
                long high = group + format.highAt() + (long) (row / 8) * PANEL;
                fiveBits(x, at, data, first, high, next, c, rows, format.offset(), sums);
            }
            default -> {
                long high = group + format.highAt() + (long) (row / 4) * PANEL;
                sixBits(x, at, data, first, high, next, c, rows, format.offset(), sums);
            }
        }
    }

    /** {@code slice = fma(sums, scales, slice)}, then {@code fma(inputs, minima, slice)}. */
    private void addScaled(BlockData matrix, int block, long group, long next, int c, float inputs) {
        BlockFormat format = matrix.format();
        MemorySegment data = matrix.data();
        for (int v = 0; v < SUMS * LANES; v += LANES) {
            FloatVector scale = factor(data, at(group, next, c + v, Float.BYTES));
            if (format.isTwoLevel()) {
                scale = scale.mul(small(data, at(group + format.scaleAt(block), next, c + v, 1)));
            }
            FloatVector added =
                    FloatVector.fromArray(FLOATS, sums, v).fma(scale, FloatVector.fromArray(FLOATS, slice, c + v));
            if (format.hasMinimum()) {
                FloatVector minimum = factor(data, at(group + format.minimaAt(), next, c + v, Float.BYTES));
                if (format.isTwoLevel()) {
                    minimum = minimum.mul(small(data, at(group + format.minimumAt(block), next, c + v, 1)));
                }
                added = minimum.fma(FloatVector.broadcast(FLOATS, inputs), added);
            }
            added.intoArray(slice, c + v);
        }
    }

    private static FloatVector factor(MemorySegment data, long at) {
        return FloatVector.fromMemorySegment(FLOATS, data, at, ORDER);
    }

    private static FloatVector small(MemorySegment data, long at) {
        return (FloatVector)
                ByteVector.fromMemorySegment(BYTES, data, at, ORDER).convertShape(VectorOperators.B2F, FLOATS, 0);
    }

    /** Where a column of one of the panels lies. */
    private static long at(long first, long next, int column, int bytes) {
        return first + column / PANEL * next + (long) (column % PANEL) * bytes;
    }

    private static void bytes(
            float[] x, int at, MemorySegment data, long first, long next, int c, int rows, float[] sums) {
        long at0 = at(first, next, c, 1);
        long at1 = at(first, next, c + LANES, 1);
        long at2 = at(first, next, c + 2 * LANES, 1);
        long at3 = at(first, next, c + 3 * LANES, 1);
        FloatVector sum0 = FloatVector.zero(FLOATS);
        FloatVector sum1 = FloatVector.zero(FLOATS);
        FloatVector sum2 = FloatVector.zero(FLOATS);
        FloatVector sum3 = FloatVector.zero(FLOATS);
        for (int k = 0; k < rows; k++) {
            long row = (long) k * PANEL;
            FloatVector factor = FloatVector.broadcast(FLOATS, x[at + k]);
            sum0 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at0 + row, ORDER)
                            .convertShape(VectorOperators.B2F, FLOATS, 0))
                    .fma(factor, sum0);
            sum1 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at1 + row, ORDER)
                            .convertShape(VectorOperators.B2F, FLOATS, 0))
                    .fma(factor, sum1);
            sum2 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at2 + row, ORDER)
                            .convertShape(VectorOperators.B2F, FLOATS, 0))
                    .fma(factor, sum2);
            sum3 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at3 + row, ORDER)
                            .convertShape(VectorOperators.B2F, FLOATS, 0))
                    .fma(factor, sum3);
        }
        sum0.intoArray(sums, 0);
        sum1.intoArray(sums, LANES);
        sum2.intoArray(sums, 2 * LANES);
        sum3.intoArray(sums, 3 * LANES);
    }

    private static void nibbles(
            float[] x, int at, MemorySegment data, long first, long next, int c, int rows, int offset, float[] sums) {
        long at0 = at(first, next, c, 1);
        long at1 = at(first, next, c + LANES, 1);
        long at2 = at(first, next, c + 2 * LANES, 1);
        long at3 = at(first, next, c + 3 * LANES, 1);
        FloatVector sum0 = FloatVector.zero(FLOATS);
        FloatVector sum1 = FloatVector.zero(FLOATS);
        FloatVector sum2 = FloatVector.zero(FLOATS);
        FloatVector sum3 = FloatVector.zero(FLOATS);
        for (int k = 0; k < rows; k += 2) {
            long row = (long) (k / 2) * PANEL;
            FloatVector even = FloatVector.broadcast(FLOATS, x[at + k]);
            FloatVector odd = FloatVector.broadcast(FLOATS, x[at + k + 1]);
            IntVector pair0 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at0 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            sum0 = ((FloatVector) pair0.and(NIBBLE).sub(offset).convert(VectorOperators.I2F, 0)).fma(even, sum0);
            sum0 = ((FloatVector)
                            pair0.lanewise(VectorOperators.LSHR, 4).sub(offset).convert(VectorOperators.I2F, 0))
                    .fma(odd, sum0);
            IntVector pair1 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at1 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            sum1 = ((FloatVector) pair1.and(NIBBLE).sub(offset).convert(VectorOperators.I2F, 0)).fma(even, sum1);
            sum1 = ((FloatVector)
                            pair1.lanewise(VectorOperators.LSHR, 4).sub(offset).convert(VectorOperators.I2F, 0))
                    .fma(odd, sum1);
            IntVector pair2 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at2 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            sum2 = ((FloatVector) pair2.and(NIBBLE).sub(offset).convert(VectorOperators.I2F, 0)).fma(even, sum2);
            sum2 = ((FloatVector)
                            pair2.lanewise(VectorOperators.LSHR, 4).sub(offset).convert(VectorOperators.I2F, 0))
                    .fma(odd, sum2);
            IntVector pair3 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at3 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            sum3 = ((FloatVector) pair3.and(NIBBLE).sub(offset).convert(VectorOperators.I2F, 0)).fma(even, sum3);
            sum3 = ((FloatVector)
                            pair3.lanewise(VectorOperators.LSHR, 4).sub(offset).convert(VectorOperators.I2F, 0))
                    .fma(odd, sum3);
        }
        sum0.intoArray(sums, 0);
        sum1.intoArray(sums, LANES);
        sum2.intoArray(sums, 2 * LANES);
        sum3.intoArray(sums, 3 * LANES);
    }

    private static void fiveBits(
            float[] x,
            int at,
            MemorySegment data,
            long first,
            long high,
            long next,
            int c,
            int rows,
            int offset,
            float[] sums) {
        long at0 = at(first, next, c, 1);
        long at1 = at(first, next, c + LANES, 1);
        long at2 = at(first, next, c + 2 * LANES, 1);
        long at3 = at(first, next, c + 3 * LANES, 1);
        long highAt0 = at(high, next, c, 1);
        long highAt1 = at(high, next, c + LANES, 1);
        long highAt2 = at(high, next, c + 2 * LANES, 1);
        long highAt3 = at(high, next, c + 3 * LANES, 1);
        FloatVector sum0 = FloatVector.zero(FLOATS);
        FloatVector sum1 = FloatVector.zero(FLOATS);
        FloatVector sum2 = FloatVector.zero(FLOATS);
        FloatVector sum3 = FloatVector.zero(FLOATS);
        for (int k = 0; k < rows; k += 2) {
            long row = (long) (k / 2) * PANEL;
            long highRow = (long) (k / 8) * PANEL;
            int shift = k % 8 * 1;
            FloatVector even = FloatVector.broadcast(FLOATS, x[at + k]);
            FloatVector odd = FloatVector.broadcast(FLOATS, x[at + k + 1]);
            IntVector pair0 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at0 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            IntVector high0 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, highAt0 + highRow, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                    .lanewise(VectorOperators.LSHR, shift);
            sum0 = ((FloatVector) pair0.and(NIBBLE)
                            .or(high0.and(1).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(even, sum0);
            sum0 = ((FloatVector) pair0.lanewise(VectorOperators.LSHR, 4)
                            .or(high0.lanewise(VectorOperators.LSHR, 1).and(1).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(odd, sum0);
            IntVector pair1 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at1 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            IntVector high1 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, highAt1 + highRow, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                    .lanewise(VectorOperators.LSHR, shift);
            sum1 = ((FloatVector) pair1.and(NIBBLE)
                            .or(high1.and(1).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(even, sum1);
            sum1 = ((FloatVector) pair1.lanewise(VectorOperators.LSHR, 4)
                            .or(high1.lanewise(VectorOperators.LSHR, 1).and(1).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(odd, sum1);
            IntVector pair2 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at2 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            IntVector high2 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, highAt2 + highRow, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                    .lanewise(VectorOperators.LSHR, shift);
            sum2 = ((FloatVector) pair2.and(NIBBLE)
                            .or(high2.and(1).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(even, sum2);
            sum2 = ((FloatVector) pair2.lanewise(VectorOperators.LSHR, 4)
                            .or(high2.lanewise(VectorOperators.LSHR, 1).and(1).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(odd, sum2);
            IntVector pair3 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at3 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            IntVector high3 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, highAt3 + highRow, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                    .lanewise(VectorOperators.LSHR, shift);
            sum3 = ((FloatVector) pair3.and(NIBBLE)
                            .or(high3.and(1).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(even, sum3);
            sum3 = ((FloatVector) pair3.lanewise(VectorOperators.LSHR, 4)
                            .or(high3.lanewise(VectorOperators.LSHR, 1).and(1).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(odd, sum3);
        }
        sum0.intoArray(sums, 0);
        sum1.intoArray(sums, LANES);
        sum2.intoArray(sums, 2 * LANES);
        sum3.intoArray(sums, 3 * LANES);
    }

    private static void sixBits(
            float[] x,
            int at,
            MemorySegment data,
            long first,
            long high,
            long next,
            int c,
            int rows,
            int offset,
            float[] sums) {
        long at0 = at(first, next, c, 1);
        long at1 = at(first, next, c + LANES, 1);
        long at2 = at(first, next, c + 2 * LANES, 1);
        long at3 = at(first, next, c + 3 * LANES, 1);
        long highAt0 = at(high, next, c, 1);
        long highAt1 = at(high, next, c + LANES, 1);
        long highAt2 = at(high, next, c + 2 * LANES, 1);
        long highAt3 = at(high, next, c + 3 * LANES, 1);
        FloatVector sum0 = FloatVector.zero(FLOATS);
        FloatVector sum1 = FloatVector.zero(FLOATS);
        FloatVector sum2 = FloatVector.zero(FLOATS);
        FloatVector sum3 = FloatVector.zero(FLOATS);
        for (int k = 0; k < rows; k += 2) {
            long row = (long) (k / 2) * PANEL;
            long highRow = (long) (k / 4) * PANEL;
            int shift = k % 4 * 2;
            FloatVector even = FloatVector.broadcast(FLOATS, x[at + k]);
            FloatVector odd = FloatVector.broadcast(FLOATS, x[at + k + 1]);
            IntVector pair0 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at0 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            IntVector high0 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, highAt0 + highRow, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                    .lanewise(VectorOperators.LSHR, shift);
            sum0 = ((FloatVector) pair0.and(NIBBLE)
                            .or(high0.and(3).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(even, sum0);
            sum0 = ((FloatVector) pair0.lanewise(VectorOperators.LSHR, 4)
                            .or(high0.lanewise(VectorOperators.LSHR, 2).and(3).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(odd, sum0);
            IntVector pair1 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at1 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            IntVector high1 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, highAt1 + highRow, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                    .lanewise(VectorOperators.LSHR, shift);
            sum1 = ((FloatVector) pair1.and(NIBBLE)
                            .or(high1.and(3).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(even, sum1);
            sum1 = ((FloatVector) pair1.lanewise(VectorOperators.LSHR, 4)
                            .or(high1.lanewise(VectorOperators.LSHR, 2).and(3).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(odd, sum1);
            IntVector pair2 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at2 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            IntVector high2 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, highAt2 + highRow, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                    .lanewise(VectorOperators.LSHR, shift);
            sum2 = ((FloatVector) pair2.and(NIBBLE)
                            .or(high2.and(3).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(even, sum2);
            sum2 = ((FloatVector) pair2.lanewise(VectorOperators.LSHR, 4)
                            .or(high2.lanewise(VectorOperators.LSHR, 2).and(3).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(odd, sum2);
            IntVector pair3 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at3 + row, ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
            IntVector high3 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, highAt3 + highRow, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                    .lanewise(VectorOperators.LSHR, shift);
            sum3 = ((FloatVector) pair3.and(NIBBLE)
                            .or(high3.and(3).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(even, sum3);
            sum3 = ((FloatVector) pair3.lanewise(VectorOperators.LSHR, 4)
                            .or(high3.lanewise(VectorOperators.LSHR, 2).and(3).lanewise(VectorOperators.LSHL, 4))
                            .sub(offset)
                            .convert(VectorOperators.I2F, 0))
                    .fma(odd, sum3);
        }
        sum0.intoArray(sums, 0);
        sum1.intoArray(sums, LANES);
        sum2.intoArray(sums, 2 * LANES);
        sum3.intoArray(sums, 3 * LANES);
    }
}
