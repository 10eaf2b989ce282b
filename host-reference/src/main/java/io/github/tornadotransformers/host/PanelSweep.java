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
 * The product of one row of activations and one whole panel of a matrix that lies in {@link WeightLayout#PANELS}: lanes are
 * columns, sums stay in registers, and memory is read once, from one end to the other. Memory bandwidth is what this is for.
 *
 * <p>There is a loop for each weight type, over one slice or block and two vectors of columns, {@link #HALF} apart. None calls
 * a method of ours: the compiler inlines only so many of those, and each vector that a call returns would be an object on the
 * heap.
 */
final class PanelSweep {
    private static final int PANEL = WeightLayout.PANEL;
    private static final int HALF = PANEL / 2;
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Byte> BYTES = WidenedRows.BYTES;
    private static final int LANES = VectorMath.LANES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** The upper half of an int: the second of two bf16 numbers. */
    private static final int UPPER = 0xFFFF_0000;

    private final float[] slice = new float[PANEL];
    private final short[] halves = new short[HostOps.SLICE * PANEL];
    private final float[] widened = new float[HostOps.SLICE * PANEL];

    /** Whether {@link #product} can do it: the panel is whole, a vector no wider than half of it, and none read beyond the end. */
    static boolean takes(HostMatrix matrix, int column) {
        return matrix.layout() == WeightLayout.PANELS
                && column + PANEL <= matrix.columns()
                && LANES <= HALF
                && (matrix.dtype() != DType.INT8 || hasRoomBehind(matrix, column));
    }

    /** Where vectors are short, one of bytes reads more than it needs. */
    private static boolean hasRoomBehind(HostMatrix matrix, int column) {
        long end = matrix.index(0, column) + (long) matrix.rows() * PANEL;
        return end + BYTES.length() - LANES <= matrix.elements().byteSize();
    }

    /** {@code total[first + c] = sum_k x[offset + k] * matrix[k][column + c]}, sliced, for the columns of the panel. */
    void product(float[] x, int offset, HostMatrix matrix, int column, float[] total, int first) {
        Arrays.fill(total, first, first + PANEL, 0f);
        long at = matrix.index(0, column) * matrix.dtype().bytes();
        long rowBytes = (long) PANEL * matrix.dtype().bytes();
        for (int start = 0; start < matrix.rows(); start += HostOps.SLICE) {
            int depth = Math.min(HostOps.SLICE, matrix.rows() - start);
            long from = at + start * rowBytes;
            Arrays.fill(slice, 0f);
            if (matrix.dtype() == DType.F16) {
                widen(matrix.elements(), from, depth * PANEL);
            }
            for (int lane = 0; lane < HALF; lane += LANES) {
                switch (matrix.dtype()) {
                    case F32 -> addFloats(matrix.elements(), from, depth, x, offset + start, lane, slice);
                    case BF16 -> addBf16(matrix.elements(), from, depth, x, offset + start, lane, slice);
                    case F16 -> addWidened(widened, depth, x, offset + start, lane, slice);
                    case INT8 -> addBlocks(matrix, column, from, start, depth, x, offset + start, lane);
                }
            }
            VectorMath.add(total, first, slice, 0, PANEL);
        }
    }

    /** By way of an array: the compiler makes vectors of the conversion's loop for arrays only. */
    private void widen(MemorySegment elements, long from, int count) {
        MemorySegment.copy(elements, ValueLayout.JAVA_SHORT, from, halves, 0, count);
        WidenedRows.widenF16(halves, count, widened);
    }

    private void addBlocks(
            HostMatrix matrix, int column, long from, int start, int depth, float[] x, int offset, int lane) {
        long scale = matrix.scaleIndex(start / DType.BLOCK, column) * Float.BYTES;
        for (int block = 0; block < depth; block += DType.BLOCK) {
            int count = Math.min(DType.BLOCK, depth - block);
            long at = from + (long) block * PANEL;
            addBytes(matrix.elements(), at, count, matrix.scales(), scale, x, offset + block, lane, slice);
            scale += PANEL * Float.BYTES;
        }
    }

    /** {@code sums[c] += x[offset + k] * row_k[c]} for {@code k < depth}, in order from 0f. */
    private static void addFloats(
            MemorySegment panel, long from, int depth, float[] x, int offset, int lane, float[] sums) {
        FloatVector left = FloatVector.zero(FLOATS);
        FloatVector right = FloatVector.zero(FLOATS);
        long at = from + (long) lane * Float.BYTES;
        for (int k = 0; k < depth; k++) {
            long row = at + (long) k * (PANEL * Float.BYTES);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + k]);
            left = FloatVector.fromMemorySegment(FLOATS, panel, row, ORDER).fma(factor, left);
            right = FloatVector.fromMemorySegment(FLOATS, panel, row + HALF * Float.BYTES, ORDER)
                    .fma(factor, right);
        }
        left.intoArray(sums, lane);
        right.intoArray(sums, lane + HALF);
    }

    private static void addBf16(
            MemorySegment panel, long from, int depth, float[] x, int offset, int lane, float[] sums) {
        FloatVector left = FloatVector.zero(FLOATS);
        FloatVector right = FloatVector.zero(FLOATS);
        long at = from + (long) lane * Integer.BYTES;
        for (int k = 0; k < depth; k++) {
            IntVector pair = IntVector.fromMemorySegment(INTS, panel, at + (long) k * (PANEL * Short.BYTES), ORDER);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + k]);
            left = pair.lanewise(VectorOperators.LSHL, Short.SIZE)
                    .reinterpretAsFloats()
                    .fma(factor, left);
            right = pair.and(UPPER).reinterpretAsFloats().fma(factor, right);
        }
        left.intoArray(sums, lane);
        right.intoArray(sums, lane + HALF);
    }

    private static void addWidened(float[] panel, int depth, float[] x, int offset, int lane, float[] sums) {
        FloatVector left = FloatVector.zero(FLOATS);
        FloatVector right = FloatVector.zero(FLOATS);
        for (int k = 0; k < depth; k++) {
            FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + k]);
            left = FloatVector.fromArray(FLOATS, panel, k * PANEL + lane).fma(factor, left);
            right = FloatVector.fromArray(FLOATS, panel, k * PANEL + lane + HALF)
                    .fma(factor, right);
        }
        left.intoArray(sums, lane);
        right.intoArray(sums, lane + HALF);
    }

    /** {@code sums[c] += scale[c] * sum_k x[offset + k] * row_k[c]} for {@code k < depth}, the sum in order from 0f. */
    private static void addBytes(
            MemorySegment panel,
            long from,
            int depth,
            MemorySegment scales,
            long scaleFrom,
            float[] x,
            int offset,
            int lane,
            float[] sums) {
        FloatVector left = FloatVector.zero(FLOATS);
        FloatVector right = FloatVector.zero(FLOATS);
        long at = from + lane;
        for (int k = 0; k < depth; k++) {
            long row = at + (long) k * PANEL;
            FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + k]);
            left = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panel, row, ORDER)
                            .convertShape(VectorOperators.B2F, FLOATS, 0))
                    .fma(factor, left);
            right = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panel, row + HALF, ORDER)
                            .convertShape(VectorOperators.B2F, FLOATS, 0))
                    .fma(factor, right);
        }
        long scale = scaleFrom + (long) lane * Float.BYTES;
        left.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale, ORDER), FloatVector.fromArray(FLOATS, sums, lane))
                .intoArray(sums, lane);
        right.fma(
                        FloatVector.fromMemorySegment(FLOATS, scales, scale + HALF * Float.BYTES, ORDER),
                        FloatVector.fromArray(FLOATS, sums, lane + HALF))
                .intoArray(sums, lane + HALF);
    }
}
