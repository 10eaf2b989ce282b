package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of one row of activations and whole panels of a matrix that lies in {@link WeightLayout#PANELS}: lanes are columns,
 * sums stay in registers, and memory is read once, from one end to the other. Memory bandwidth is what this is for.
 *
 * <p>There is a loop for each weight type, over the whole depth, with four vectors of sums, as fewer would wait for each other's
 * additions, or with eight, which read from more places at once. None calls a method of ours: the compiler inlines
 * only so many of those, and each vector that a call returns would be an object on the heap.
 */
final class PanelSweep {
    private static final int PANEL = WeightLayout.PANEL;
    private static final int HALF = PANEL / 2;
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = VectorMath.INTS;
    private static final VectorSpecies<Short> SHORTS = WidenedRows.SHORTS;
    private static final VectorSpecies<Byte> BYTES = WidenedRows.BYTES;
    private static final int LANES = VectorMath.LANES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** The upper half of an int: the second of two bf16 numbers. */
    private static final int UPPER = 0xFFFF_0000;

    private static final int FEW_SUMS = 4;
    private static final int MANY_SUMS = 8;

    /** Panels that are read side by side by the loops with four sums, and with eight. */
    private static final int FEW = Math.max(1, FEW_SUMS * LANES / PANEL);

    private static final int MANY = Math.max(1, MANY_SUMS * LANES / PANEL);

    /** Groups of panels for each thread that are worth it: with fewer, some threads would wait for others. */
    private static final int WORTHWHILE = 4;

    /** From where a half's significand lies to where a float's does. */
    private static final int TO_SIGNIFICAND = 13;

    /** A half's exponent and significand there. */
    private static final int SIZE = 0x0FFF_E000;

    /** The least half that is not subnormal, there. */
    private static final int FIRST_NORMAL = 1 << 23;

    /** What is added to an exponent: a half's of all ones becomes a float's of all ones. */
    private static final int RAISED = (255 - 31) << 23;

    /** The bits of 2^-14. */
    private static final int LEAST_NORMAL = (127 - 14) << 23;

    /** Room for the sums of so many columns. */
    static final int COLUMNS = MANY * PANEL;

    /**
     * From row to row; no constant, so that the compiler does not unroll the loops that wait for memory: it would load the rows in an
     * order that processors do not foresee, at half the speed. Loops that wait for the processor are unrolled.
     */
    private int step = 1;

    /** How many panels {@link #product} should be asked for at once, where each thread has so many. */
    static int abreast(DType dtype, int panelsOfThread) {
        if (hasEightSums(dtype) && panelsOfThread >= WORTHWHILE * MANY) {
            return MANY;
        }
        return panelsOfThread >= WORTHWHILE * FEW ? FEW : 1;
    }

    /** Eight sums of int8 leave no registers for conversions where there are 16. */
    private static boolean hasEightSums(DType dtype) {
        return dtype == DType.F32 || dtype == DType.INT8 && VectorMath.REGISTERS > 16;
    }

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
     * {@code total[c] = sum_k x[offset + k] * matrix[k][column + c]}, sliced, for the columns of {@code panels}, {@link #abreast} at
     * most.
     *
     * @param total {@code [COLUMNS]}; what it holds behind the panels' columns is lost
     */
    void product(float[] x, int offset, HostMatrix matrix, int column, int panels, float[] total) {
        int count;
        for (int panel = 0; panel < panels; panel += count) {
            count = panels - panel >= MANY && hasEightSums(matrix.dtype()) ? MANY : Math.min(FEW, panels - panel);
            group(x, offset, matrix, column + panel * PANEL, count, total, panel * PANEL);
        }
    }

    /** The columns of {@link #MANY} panels, or of {@link #FEW} at most, go to {@code total} from {@code to} on. */
    private void group(float[] x, int offset, HostMatrix matrix, int column, int count, float[] total, int to) {
        int depth = matrix.rows();
        MemorySegment elements = matrix.elements();
        int bytes = matrix.dtype().bytes();
        long first = matrix.index(0, column) * bytes;
        long next = count == 1 ? 0 : (long) depth * PANEL * bytes;
        int columns = count * PANEL;
        switch (matrix.dtype()) {
            case F32 -> {
                if (count > FEW) {
                    sweepEightOfFloats(elements, first, next, 0, depth, step, x, offset, total, to);
                    break;
                }
                for (int c = 0; c < columns; c += FEW_SUMS * LANES) {
                    sweepFourOfFloats(elements, first, next, c, depth, step, x, offset, total, to);
                }
            }
            case BF16 -> {
                for (int pair = 0; pair < columns / 2; pair += FEW_SUMS / 2 * LANES) {
                    sweepPairs(elements, first, next, pair, depth, step, x, offset, total, to);
                }
            }
            case F16 -> {
                for (int c = 0; c < columns; c += FEW_SUMS * LANES) {
                    sweepFourOfHalves(elements, first, next, c, depth, step, x, offset, total, to);
                }
            }
            case STORED -> throw new IllegalStateException("tensors are kept apart");
            case INT8 -> {
                MemorySegment scales = matrix.scales();
                long scale = matrix.scaleIndex(0, column) * Float.BYTES;
                long nextScale = count == 1 ? 0 : (long) Math.ceilDiv(depth, DType.BLOCK) * PANEL * Float.BYTES;
                if (count > FEW) {
                    sweepEightOfBytes(elements, first, next, scales, scale, nextScale, 0, depth, x, offset, total, to);
                    break;
                }
                for (int c = 0; c < columns; c += FEW_SUMS * LANES) {
                    sweepFourOfBytes(elements, first, next, scales, scale, nextScale, c, depth, x, offset, total, to);
                }
            }
        }
    }

    /** Where a column of one of the panels lies in its first row. */
    private static long at(long first, long next, int column, int bytes) {
        return first + column / PANEL * next + (long) (column % PANEL) * bytes;
    }

    private static void sweepFourOfFloats(
            MemorySegment panels,
            long first,
            long next,
            int c,
            int depth,
            int step,
            float[] x,
            int offset,
            float[] total,
            int to) {
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
            for (int k = start; k < end; k += step) {
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
        total0.intoArray(total, to + c);
        total1.intoArray(total, to + c + LANES);
        total2.intoArray(total, to + c + 2 * LANES);
        total3.intoArray(total, to + c + 3 * LANES);
    }

    private static void sweepEightOfFloats(
            MemorySegment panels,
            long first,
            long next,
            int c,
            int depth,
            int step,
            float[] x,
            int offset,
            float[] total,
            int to) {
        long at0 = at(first, next, c, Float.BYTES);
        long at1 = at(first, next, c + LANES, Float.BYTES);
        long at2 = at(first, next, c + 2 * LANES, Float.BYTES);
        long at3 = at(first, next, c + 3 * LANES, Float.BYTES);
        long at4 = at(first, next, c + 4 * LANES, Float.BYTES);
        long at5 = at(first, next, c + 5 * LANES, Float.BYTES);
        long at6 = at(first, next, c + 6 * LANES, Float.BYTES);
        long at7 = at(first, next, c + 7 * LANES, Float.BYTES);
        FloatVector total0 = FloatVector.zero(FLOATS);
        FloatVector total1 = FloatVector.zero(FLOATS);
        FloatVector total2 = FloatVector.zero(FLOATS);
        FloatVector total3 = FloatVector.zero(FLOATS);
        FloatVector total4 = FloatVector.zero(FLOATS);
        FloatVector total5 = FloatVector.zero(FLOATS);
        FloatVector total6 = FloatVector.zero(FLOATS);
        FloatVector total7 = FloatVector.zero(FLOATS);
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int end = Math.min(start + HostOps.SLICE, depth);
            FloatVector sum0 = FloatVector.zero(FLOATS);
            FloatVector sum1 = FloatVector.zero(FLOATS);
            FloatVector sum2 = FloatVector.zero(FLOATS);
            FloatVector sum3 = FloatVector.zero(FLOATS);
            FloatVector sum4 = FloatVector.zero(FLOATS);
            FloatVector sum5 = FloatVector.zero(FLOATS);
            FloatVector sum6 = FloatVector.zero(FLOATS);
            FloatVector sum7 = FloatVector.zero(FLOATS);
            for (int k = start; k < end; k += step) {
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
                sum4 = FloatVector.fromMemorySegment(FLOATS, panels, at4 + row, ORDER)
                        .fma(factor, sum4);
                sum5 = FloatVector.fromMemorySegment(FLOATS, panels, at5 + row, ORDER)
                        .fma(factor, sum5);
                sum6 = FloatVector.fromMemorySegment(FLOATS, panels, at6 + row, ORDER)
                        .fma(factor, sum6);
                sum7 = FloatVector.fromMemorySegment(FLOATS, panels, at7 + row, ORDER)
                        .fma(factor, sum7);
            }
            total0 = total0.add(sum0);
            total1 = total1.add(sum1);
            total2 = total2.add(sum2);
            total3 = total3.add(sum3);
            total4 = total4.add(sum4);
            total5 = total5.add(sum5);
            total6 = total6.add(sum6);
            total7 = total7.add(sum7);
        }
        total0.intoArray(total, to + c);
        total1.intoArray(total, to + c + LANES);
        total2.intoArray(total, to + c + 2 * LANES);
        total3.intoArray(total, to + c + 3 * LANES);
        total4.intoArray(total, to + c + 4 * LANES);
        total5.intoArray(total, to + c + 5 * LANES);
        total6.intoArray(total, to + c + 6 * LANES);
        total7.intoArray(total, to + c + 7 * LANES);
    }

    /** A vector of pairs has columns in its lower halves, and others, half a panel further, in its upper. */
    private static void sweepPairs(
            MemorySegment panels,
            long first,
            long next,
            int pair,
            int depth,
            int step,
            float[] x,
            int offset,
            float[] total,
            int to) {
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
            for (int k = start; k < end; k += step) {
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
        total0.intoArray(total, to + column);
        total1.intoArray(total, to + column + HALF);
        total2.intoArray(total, to + other);
        total3.intoArray(total, to + other + HALF);
    }

    /**
     * Exponents are raised so far that infinity's and NaN's remain theirs, and lowered by a product, which keeps those; what is subnormal
     * becomes a float by a difference. All of it is exact, and no float on the way is subnormal, which some processors are slow with.
     */
    private static void sweepFourOfHalves(
            MemorySegment panels,
            long first,
            long next,
            int c,
            int depth,
            int step,
            float[] x,
            int offset,
            float[] total,
            int to) {
        long at0 = at(first, next, c, Short.BYTES);
        long at1 = at(first, next, c + LANES, Short.BYTES);
        long at2 = at(first, next, c + 2 * LANES, Short.BYTES);
        long at3 = at(first, next, c + 3 * LANES, Short.BYTES);
        FloatVector total0 = FloatVector.zero(FLOATS);
        FloatVector total1 = FloatVector.zero(FLOATS);
        FloatVector total2 = FloatVector.zero(FLOATS);
        FloatVector total3 = FloatVector.zero(FLOATS);
        FloatVector lowered = FloatVector.broadcast(FLOATS, 0x1p-112f);
        FloatVector leastNormal = FloatVector.broadcast(FLOATS, 0x1p-14f);
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int end = Math.min(start + HostOps.SLICE, depth);
            FloatVector sum0 = FloatVector.zero(FLOATS);
            FloatVector sum1 = FloatVector.zero(FLOATS);
            FloatVector sum2 = FloatVector.zero(FLOATS);
            FloatVector sum3 = FloatVector.zero(FLOATS);
            for (int k = start; k < end; k += step) {
                long row = (long) k * (PANEL * Short.BYTES);
                FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + k]);
                IntVector half0 = ((IntVector) ShortVector.fromMemorySegment(SHORTS, panels, at0 + row, ORDER)
                                .convertShape(VectorOperators.S2I, INTS, 0))
                        .lanewise(VectorOperators.LSHL, TO_SIGNIFICAND);
                IntVector size0 = half0.and(SIZE);
                IntVector normal0 =
                        size0.add(RAISED).reinterpretAsFloats().mul(lowered).reinterpretAsInts();
                IntVector subnormal0 = size0.or(LEAST_NORMAL)
                        .reinterpretAsFloats()
                        .sub(leastNormal)
                        .reinterpretAsInts();
                sum0 = normal0.blend(subnormal0, size0.lt(FIRST_NORMAL))
                        .or(half0.and(Integer.MIN_VALUE))
                        .reinterpretAsFloats()
                        .fma(factor, sum0);
                IntVector half1 = ((IntVector) ShortVector.fromMemorySegment(SHORTS, panels, at1 + row, ORDER)
                                .convertShape(VectorOperators.S2I, INTS, 0))
                        .lanewise(VectorOperators.LSHL, TO_SIGNIFICAND);
                IntVector size1 = half1.and(SIZE);
                IntVector normal1 =
                        size1.add(RAISED).reinterpretAsFloats().mul(lowered).reinterpretAsInts();
                IntVector subnormal1 = size1.or(LEAST_NORMAL)
                        .reinterpretAsFloats()
                        .sub(leastNormal)
                        .reinterpretAsInts();
                sum1 = normal1.blend(subnormal1, size1.lt(FIRST_NORMAL))
                        .or(half1.and(Integer.MIN_VALUE))
                        .reinterpretAsFloats()
                        .fma(factor, sum1);
                IntVector half2 = ((IntVector) ShortVector.fromMemorySegment(SHORTS, panels, at2 + row, ORDER)
                                .convertShape(VectorOperators.S2I, INTS, 0))
                        .lanewise(VectorOperators.LSHL, TO_SIGNIFICAND);
                IntVector size2 = half2.and(SIZE);
                IntVector normal2 =
                        size2.add(RAISED).reinterpretAsFloats().mul(lowered).reinterpretAsInts();
                IntVector subnormal2 = size2.or(LEAST_NORMAL)
                        .reinterpretAsFloats()
                        .sub(leastNormal)
                        .reinterpretAsInts();
                sum2 = normal2.blend(subnormal2, size2.lt(FIRST_NORMAL))
                        .or(half2.and(Integer.MIN_VALUE))
                        .reinterpretAsFloats()
                        .fma(factor, sum2);
                IntVector half3 = ((IntVector) ShortVector.fromMemorySegment(SHORTS, panels, at3 + row, ORDER)
                                .convertShape(VectorOperators.S2I, INTS, 0))
                        .lanewise(VectorOperators.LSHL, TO_SIGNIFICAND);
                IntVector size3 = half3.and(SIZE);
                IntVector normal3 =
                        size3.add(RAISED).reinterpretAsFloats().mul(lowered).reinterpretAsInts();
                IntVector subnormal3 = size3.or(LEAST_NORMAL)
                        .reinterpretAsFloats()
                        .sub(leastNormal)
                        .reinterpretAsInts();
                sum3 = normal3.blend(subnormal3, size3.lt(FIRST_NORMAL))
                        .or(half3.and(Integer.MIN_VALUE))
                        .reinterpretAsFloats()
                        .fma(factor, sum3);
            }
            total0 = total0.add(sum0);
            total1 = total1.add(sum1);
            total2 = total2.add(sum2);
            total3 = total3.add(sum3);
        }
        total0.intoArray(total, to + c);
        total1.intoArray(total, to + c + LANES);
        total2.intoArray(total, to + c + 2 * LANES);
        total3.intoArray(total, to + c + 3 * LANES);
    }

    /** A block's sum, in order from 0f, times its scales is what the slice adds. */
    private static void sweepFourOfBytes(
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
            float[] total,
            int to) {
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
        total0.intoArray(total, to + c);
        total1.intoArray(total, to + c + LANES);
        total2.intoArray(total, to + c + 2 * LANES);
        total3.intoArray(total, to + c + 3 * LANES);
    }

    private static void sweepEightOfBytes(
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
            float[] total,
            int to) {
        long at0 = at(first, next, c, Byte.BYTES);
        long at1 = at(first, next, c + LANES, Byte.BYTES);
        long at2 = at(first, next, c + 2 * LANES, Byte.BYTES);
        long at3 = at(first, next, c + 3 * LANES, Byte.BYTES);
        long at4 = at(first, next, c + 4 * LANES, Byte.BYTES);
        long at5 = at(first, next, c + 5 * LANES, Byte.BYTES);
        long at6 = at(first, next, c + 6 * LANES, Byte.BYTES);
        long at7 = at(first, next, c + 7 * LANES, Byte.BYTES);
        long scale0 = at(firstScale, nextScale, c, Float.BYTES);
        long scale1 = at(firstScale, nextScale, c + LANES, Float.BYTES);
        long scale2 = at(firstScale, nextScale, c + 2 * LANES, Float.BYTES);
        long scale3 = at(firstScale, nextScale, c + 3 * LANES, Float.BYTES);
        long scale4 = at(firstScale, nextScale, c + 4 * LANES, Float.BYTES);
        long scale5 = at(firstScale, nextScale, c + 5 * LANES, Float.BYTES);
        long scale6 = at(firstScale, nextScale, c + 6 * LANES, Float.BYTES);
        long scale7 = at(firstScale, nextScale, c + 7 * LANES, Float.BYTES);
        FloatVector total0 = FloatVector.zero(FLOATS);
        FloatVector total1 = FloatVector.zero(FLOATS);
        FloatVector total2 = FloatVector.zero(FLOATS);
        FloatVector total3 = FloatVector.zero(FLOATS);
        FloatVector total4 = FloatVector.zero(FLOATS);
        FloatVector total5 = FloatVector.zero(FLOATS);
        FloatVector total6 = FloatVector.zero(FLOATS);
        FloatVector total7 = FloatVector.zero(FLOATS);
        for (int start = 0; start < depth; start += HostOps.SLICE) {
            int end = Math.min(start + HostOps.SLICE, depth);
            FloatVector slice0 = FloatVector.zero(FLOATS);
            FloatVector slice1 = FloatVector.zero(FLOATS);
            FloatVector slice2 = FloatVector.zero(FLOATS);
            FloatVector slice3 = FloatVector.zero(FLOATS);
            FloatVector slice4 = FloatVector.zero(FLOATS);
            FloatVector slice5 = FloatVector.zero(FLOATS);
            FloatVector slice6 = FloatVector.zero(FLOATS);
            FloatVector slice7 = FloatVector.zero(FLOATS);
            for (int block = start; block < end; block += DType.BLOCK) {
                int blockEnd = Math.min(block + DType.BLOCK, end);
                FloatVector sum0 = FloatVector.zero(FLOATS);
                FloatVector sum1 = FloatVector.zero(FLOATS);
                FloatVector sum2 = FloatVector.zero(FLOATS);
                FloatVector sum3 = FloatVector.zero(FLOATS);
                FloatVector sum4 = FloatVector.zero(FLOATS);
                FloatVector sum5 = FloatVector.zero(FLOATS);
                FloatVector sum6 = FloatVector.zero(FLOATS);
                FloatVector sum7 = FloatVector.zero(FLOATS);
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
                    sum4 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panels, at4 + row, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(factor, sum4);
                    sum5 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panels, at5 + row, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(factor, sum5);
                    sum6 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panels, at6 + row, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(factor, sum6);
                    sum7 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, panels, at7 + row, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(factor, sum7);
                }
                long row = (long) block / DType.BLOCK * (PANEL * Float.BYTES);
                slice0 = sum0.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale0 + row, ORDER), slice0);
                slice1 = sum1.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale1 + row, ORDER), slice1);
                slice2 = sum2.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale2 + row, ORDER), slice2);
                slice3 = sum3.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale3 + row, ORDER), slice3);
                slice4 = sum4.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale4 + row, ORDER), slice4);
                slice5 = sum5.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale5 + row, ORDER), slice5);
                slice6 = sum6.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale6 + row, ORDER), slice6);
                slice7 = sum7.fma(FloatVector.fromMemorySegment(FLOATS, scales, scale7 + row, ORDER), slice7);
            }
            total0 = total0.add(slice0);
            total1 = total1.add(slice1);
            total2 = total2.add(slice2);
            total3 = total3.add(slice3);
            total4 = total4.add(slice4);
            total5 = total5.add(slice5);
            total6 = total6.add(slice6);
            total7 = total7.add(slice7);
        }
        total0.intoArray(total, to + c);
        total1.intoArray(total, to + c + LANES);
        total2.intoArray(total, to + c + 2 * LANES);
        total3.intoArray(total, to + c + 3 * LANES);
        total4.intoArray(total, to + c + 4 * LANES);
        total5.intoArray(total, to + c + 5 * LANES);
        total6.intoArray(total, to + c + 6 * LANES);
        total7.intoArray(total, to + c + 7 * LANES);
    }
}
