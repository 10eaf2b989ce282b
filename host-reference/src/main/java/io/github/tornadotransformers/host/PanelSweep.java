package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of one row of activations and whole panels of a matrix that lies in {@link WeightLayout#PANELS}: lanes are columns,
 * sums stay in registers, and memory is read once, from one end to the other. Memory bandwidth is what this is for.
 *
 * <p>There is a loop for each weight type, over the whole depth, with four vectors of sums: fewer would wait for each other's
 * additions. Where vectors are wide, they are those of {@link #ABREAST} panels. None calls a method of ours: the compiler inlines
 * only so many of those, and each vector that a call returns would be an object on the heap.
 */
final class PanelSweep {
    private static final int PANEL = WeightLayout.PANEL;
    private static final int HALF = PANEL / 2;
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = VectorMath.INTS;
    private static final VectorSpecies<Byte> BYTES = WidenedRows.BYTES;
    private static final int LANES = VectorMath.LANES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** The upper half of an int: the second of two bf16 numbers. */
    private static final int UPPER = 0xFFFF_0000;

    /** Vectors of sums. */
    private static final int SUMS = 4;

    /** Panels that are read side by side. */
    static final int ABREAST = Math.max(1, SUMS * LANES / PANEL);

    /** Rows that are widened at a time; they stay in the first-level cache. */
    private static final int CHUNK = 32;

    /** Columns of so many panels. */
    static final int COLUMNS = ABREAST * PANEL;

    private final float[] slice = new float[COLUMNS];
    private final short[] halves = new short[CHUNK * PANEL];
    private final float[] widened = new float[ABREAST * CHUNK * PANEL];

    /** Whether {@link #product} can do it: the panel is whole, and nothing is read beyond the end of the matrix. */
    static boolean takes(HostMatrix matrix, int column) {
        return matrix.layout() == WeightLayout.PANELS
                && column + PANEL <= matrix.columns()
                && (matrix.dtype() != DType.INT8 || hasRoomBehind(matrix, column));
    }

    /** Where vectors are short, one of bytes reads more than it needs. */
    private static boolean hasRoomBehind(HostMatrix matrix, int column) {
        long end = matrix.index(0, column) + (long) matrix.rows() * PANEL;
        return end + BYTES.length() - LANES <= matrix.elements().byteSize();
    }

    /**
     * {@code total[c] = sum_k x[offset + k] * matrix[k][column + c]}, sliced, for the columns of {@code panels}.
     *
     * @param panels 1 to {@link #ABREAST}
     * @param total {@code [COLUMNS]}; what it holds behind the panels' columns is lost
     */
    void product(float[] x, int offset, HostMatrix matrix, int column, int panels, float[] total) {
        int depth = matrix.rows();
        long first = matrix.index(0, column) * matrix.dtype().bytes();
        long next = panels == 1 ? 0 : (long) depth * PANEL * matrix.dtype().bytes();
        MemorySegment elements = matrix.elements();
        switch (matrix.dtype()) {
            case F32 -> {
                for (int c = 0; c < COLUMNS; c += SUMS * LANES) {
                    sweepFloats(elements, first, next, c, depth, x, offset, total);
                }
            }
            case BF16 -> {
                for (int pair = 0; pair < COLUMNS / 2; pair += SUMS / 2 * LANES) {
                    sweepPairs(elements, first, next, pair, depth, x, offset, total);
                }
            }
            case F16 -> sweepHalves(elements, first, next, depth, x, offset, total);
            case INT8 -> {
                long firstScale = matrix.scaleIndex(0, column) * Float.BYTES;
                long nextScale = panels == 1 ? 0 : (long) Math.ceilDiv(depth, DType.BLOCK) * PANEL * Float.BYTES;
                for (int c = 0; c < COLUMNS; c += SUMS * LANES) {
                    sweepBytes(
                            elements, first, next, matrix.scales(), firstScale, nextScale, c, depth, x, offset, total);
                }
            }
        }
    }

    /** Where a column of one of the panels lies in its first row. */
    private static long at(long first, long next, int column, int bytes) {
        return first + column / PANEL * next + (long) (column % PANEL) * bytes;
    }

    private static void sweepFloats(
            MemorySegment panels, long first, long next, int c, int depth, float[] x, int offset, float[] total) {
        long at0 = at(first, next, c, Float.BYTES);
        long at1 = at(first, next, c + LANES, Float.BYTES);
        long at2 = at(first, next, c + 2 * LANES, Float.BYTES);
        long at3 = at(first, next, c + 3 * LANES, Float.BYTES);
        FloatVector total0 = FloatVector.zero(FLOATS);
        FloatVector total1 = FloatVector.zero(FLOATS);
        FloatVector total2 = FloatVector.zero(FLOATS);
        FloatVector total3 = FloatVector.zero(FLOATS);
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int end = Math.min(start + HostOps.SLICE, depth);
            FloatVector sum0 = FloatVector.zero(FLOATS);
            FloatVector sum1 = FloatVector.zero(FLOATS);
            FloatVector sum2 = FloatVector.zero(FLOATS);
            FloatVector sum3 = FloatVector.zero(FLOATS);
            for (int k = start; k < end; k++) {
                long row = (long) k * (PANEL * Float.BYTES);
                FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + k]);
                sum0 = FloatVector.fromMemorySegment(FLOATS, panels, at0 + row, ORDER)
                        .fma(factor, sum0);
                sum1 = FloatVector.fromMemorySegment(FLOATS, panels, at1 + row, ORDER)
                        .fma(factor, sum1);
                sum2 = FloatVector.fromMemorySegment(FLOATS, panels, at2 + row, ORDER)
                        .fma(factor, sum2);
                sum3 = FloatVector.fromMemorySegment(FLOATS, panels, at3 + row, ORDER)
                        .fma(factor, sum3);
            }
            total0 = total0.add(sum0);
            total1 = total1.add(sum1);
            total2 = total2.add(sum2);
            total3 = total3.add(sum3);
        }
        total0.intoArray(total, c);
        total1.intoArray(total, c + LANES);
        total2.intoArray(total, c + 2 * LANES);
        total3.intoArray(total, c + 3 * LANES);
    }

    /** A vector of pairs has columns in its lower halves, and others, half a panel further, in its upper. */
    private static void sweepPairs(
            MemorySegment panels, long first, long next, int pair, int depth, float[] x, int offset, float[] total) {
        int column = pair / HALF * PANEL + pair % HALF;
        int other = (pair + LANES) / HALF * PANEL + (pair + LANES) % HALF;
        long at = at(first, next, column, Integer.BYTES);
        long otherAt = at(first, next, other, Integer.BYTES);
        FloatVector total0 = FloatVector.zero(FLOATS);
        FloatVector total1 = FloatVector.zero(FLOATS);
        FloatVector total2 = FloatVector.zero(FLOATS);
        FloatVector total3 = FloatVector.zero(FLOATS);
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int end = Math.min(start + HostOps.SLICE, depth);
            FloatVector sum0 = FloatVector.zero(FLOATS);
            FloatVector sum1 = FloatVector.zero(FLOATS);
            FloatVector sum2 = FloatVector.zero(FLOATS);
            FloatVector sum3 = FloatVector.zero(FLOATS);
            for (int k = start; k < end; k++) {
                long row = (long) k * (PANEL * Short.BYTES);
                FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + k]);
                IntVector pairs = IntVector.fromMemorySegment(INTS, panels, at + row, ORDER);
                IntVector others = IntVector.fromMemorySegment(INTS, panels, otherAt + row, ORDER);
                sum0 = pairs.lanewise(VectorOperators.LSHL, Short.SIZE)
                        .reinterpretAsFloats()
                        .fma(factor, sum0);
                sum1 = pairs.and(UPPER).reinterpretAsFloats().fma(factor, sum1);
                sum2 = others.lanewise(VectorOperators.LSHL, Short.SIZE)
                        .reinterpretAsFloats()
                        .fma(factor, sum2);
                sum3 = others.and(UPPER).reinterpretAsFloats().fma(factor, sum3);
            }
            total0 = total0.add(sum0);
            total1 = total1.add(sum1);
            total2 = total2.add(sum2);
            total3 = total3.add(sum3);
        }
        total0.intoArray(total, column);
        total1.intoArray(total, column + HALF);
        total2.intoArray(total, other);
        total3.intoArray(total, other + HALF);
    }

    /** By way of an array: the compiler makes vectors of the conversion's loop for arrays only. */
    private void sweepHalves(
            MemorySegment elements, long first, long next, int depth, float[] x, int offset, float[] total) {
        Arrays.fill(total, 0, COLUMNS, 0f);
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            Arrays.fill(slice, 0f);
            int end = Math.min(start + HostOps.SLICE, depth);
            for (int chunk = start; chunk < end; chunk += CHUNK) {
                int size = Math.min(CHUNK, end - chunk);
                for (int panel = 0; panel < ABREAST; panel++) {
                    long from = first + panel * next + (long) chunk * (PANEL * Short.BYTES);
                    MemorySegment.copy(elements, ValueLayout.JAVA_SHORT, from, halves, 0, size * PANEL);
                    WidenedRows.widenF16(halves, size * PANEL, widened, panel * CHUNK * PANEL);
                }
                for (int c = 0; c < COLUMNS; c += SUMS * LANES) {
                    addWidened(widened, c, size, x, offset + chunk, slice);
                }
            }
            VectorMath.add(total, 0, slice, 0, COLUMNS);
        }
    }

    /** {@code sums[c] += x[offset + k] * panels[k][c]} for {@code k < depth}, in order. */
    private static void addWidened(float[] panels, int c, int depth, float[] x, int offset, float[] sums) {
        int at0 = (int) at(0, CHUNK * PANEL, c, 1);
        int at1 = (int) at(0, CHUNK * PANEL, c + LANES, 1);
        int at2 = (int) at(0, CHUNK * PANEL, c + 2 * LANES, 1);
        int at3 = (int) at(0, CHUNK * PANEL, c + 3 * LANES, 1);
        FloatVector sum0 = FloatVector.fromArray(FLOATS, sums, c);
        FloatVector sum1 = FloatVector.fromArray(FLOATS, sums, c + LANES);
        FloatVector sum2 = FloatVector.fromArray(FLOATS, sums, c + 2 * LANES);
        FloatVector sum3 = FloatVector.fromArray(FLOATS, sums, c + 3 * LANES);
        for (int k = 0; k < depth; k++) {
            FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + k]);
            sum0 = FloatVector.fromArray(FLOATS, panels, at0 + k * PANEL).fma(factor, sum0);
            sum1 = FloatVector.fromArray(FLOATS, panels, at1 + k * PANEL).fma(factor, sum1);
            sum2 = FloatVector.fromArray(FLOATS, panels, at2 + k * PANEL).fma(factor, sum2);
            sum3 = FloatVector.fromArray(FLOATS, panels, at3 + k * PANEL).fma(factor, sum3);
        }
        sum0.intoArray(sums, c);
        sum1.intoArray(sums, c + LANES);
        sum2.intoArray(sums, c + 2 * LANES);
        sum3.intoArray(sums, c + 3 * LANES);
    }

    /** A block's sum, in order from 0f, times its scales is what the slice adds. */
    private static void sweepBytes(
            MemorySegment panels,
            long first,
            long next,
            MemorySegment scales,
            long firstScale,
            long nextScale,
            int c,
            int depth,
            float[] x,
            int offset,
            float[] total) {
        long at0 = at(first, next, c, Byte.BYTES);
        long at1 = at(first, next, c + LANES, Byte.BYTES);
        long at2 = at(first, next, c + 2 * LANES, Byte.BYTES);
        long at3 = at(first, next, c + 3 * LANES, Byte.BYTES);
        long scale0 = at(firstScale, nextScale, c, Float.BYTES);
        long scale1 = at(firstScale, nextScale, c + LANES, Float.BYTES);
        long scale2 = at(firstScale, nextScale, c + 2 * LANES, Float.BYTES);
        long scale3 = at(firstScale, nextScale, c + 3 * LANES, Float.BYTES);
        FloatVector total0 = FloatVector.zero(FLOATS);
        FloatVector total1 = FloatVector.zero(FLOATS);
        FloatVector total2 = FloatVector.zero(FLOATS);
        FloatVector total3 = FloatVector.zero(FLOATS);
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int end = Math.min(start + HostOps.SLICE, depth);
            FloatVector slice0 = FloatVector.zero(FLOATS);
            FloatVector slice1 = FloatVector.zero(FLOATS);
            FloatVector slice2 = FloatVector.zero(FLOATS);
            FloatVector slice3 = FloatVector.zero(FLOATS);
            for (int block = start; block < end; block += DType.BLOCK) {
                int blockEnd = Math.min(block + DType.BLOCK, end);
                FloatVector sum0 = FloatVector.zero(FLOATS);
                FloatVector sum1 = FloatVector.zero(FLOATS);
                FloatVector sum2 = FloatVector.zero(FLOATS);
                FloatVector sum3 = FloatVector.zero(FLOATS);
                for (int k = block; k < blockEnd; k++) {
                    long row = (long) k * PANEL;
                    FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + k]);
                    sum0 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panels, at0 + row, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(factor, sum0);
                    sum1 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panels, at1 + row, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(factor, sum1);
                    sum2 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panels, at2 + row, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(factor, sum2);
                    sum3 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panels, at3 + row, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(factor, sum3);
                }
                long row = (long) block / DType.BLOCK * (PANEL * Float.BYTES);
                slice0 = sum0.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale0 + row, ORDER), slice0);
                slice1 = sum1.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale1 + row, ORDER), slice1);
                slice2 = sum2.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale2 + row, ORDER), slice2);
                slice3 = sum3.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale3 + row, ORDER), slice3);
            }
            total0 = total0.add(slice0);
            total1 = total1.add(slice1);
            total2 = total2.add(slice2);
            total3 = total3.add(slice3);
        }
        total0.intoArray(total, c);
        total1.intoArray(total, c + LANES);
        total2.intoArray(total, c + 2 * LANES);
        total3.intoArray(total, c + 3 * LANES);
    }
}
