package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.BlockData;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of one row of activations and panels of a matrix in a block format, read where it lies: memory is read once, from one end
 * to the other. Lanes are columns; two or four vectors of sums stay in registers.
 *
 * <p>There is a loop for each way quants lie, over the whole depth, as the compiler's first and last rounds of a loop are slow; it calls no
 * method of ours, for the reasons in {@link PanelSweep}. A nibble becomes a float where it is: it is put into the significand of a power
 * of two whose last place is worth what the nibble is, and the power is subtracted, which is exact. What a format lacks, small integers
 * or minima, is masked and not branched around: a vector that two branches give would be an object on the heap.
 */
final class BlockSweep {
    private static final int PANEL = WeightLayout.PANEL;
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = VectorMath.INTS;
    private static final VectorSpecies<Byte> BYTES = WidenedRows.BYTES;
    private static final int LANES = VectorMath.LANES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** Vectors of sums where panels are read side by side. */
    private static final int SUMS = 4;

    /** Where they are read one after the other: those of a panel. */
    private static final int OWN = Math.clamp(PANEL / LANES, 2, SUMS);

    /** The quants of even rows: the lower nibbles. */
    private static final int EVEN = 0xF;

    /** Those of odd rows. */
    private static final int ODD = 0xF0;

    /** A float whose last place is worth 1: an even row's quant is added to it by putting in its bits. */
    private static final float EVEN_BASE = 0x1p23f;

    /** A float whose fifth place from the end is worth 1. */
    private static final float ODD_BASE = 0x1p19f;

    private static final int EVEN_BASE_BITS = Float.floatToRawIntBits(EVEN_BASE);
    private static final int ODD_BASE_BITS = Float.floatToRawIntBits(ODD_BASE);

    /** Rows of a block. Known to the compiler, so that it checks no bounds within a block. */
    private static final int BLOCK = 32;

    /** Rows of a block of Q6_K. */
    private static final int SMALL_BLOCK = 16;

    /**
     * Panels that are read side by side, or one after the other where a block is a scale and quants: two streams from memory take a quarter
     * more time than one. Where small integers lie before a group's quants, two wait for them together.
     */
    static final int ABREAST = Math.max(1, SUMS * LANES / PANEL);

    /** Room for the sums of so many columns. */
    static final int COLUMNS = ABREAST * PANEL;

    private BlockSweep() {}

    /** {@code sums[b]} = the sum of a row's inputs in block b, left to right, where a format has minima; else anything. */
    static float[] blockSums(float[] x, int offset, int depth, BlockFormat format) {
        float[] sums = new float[depth / format.blockRows()];
        for (int block = 0; block < (format.hasMinimum() ? sums.length : 0); block++) {
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
    static void product(float[] x, int offset, float[] blockSums, BlockData matrix, int column, float[] total) {
        BlockFormat format = matrix.format();
        boolean hasAll = column + (ABREAST - 1) * PANEL < matrix.columns();
        if (hasScalesAlone(format)) {
            for (int c = 0; c < (hasAll ? COLUMNS : PANEL); c += OWN * LANES) {
                int panel = column + c / PANEL * PANEL;
                if (format.bits() == Byte.SIZE) {
                    bytes(x, offset, matrix, panel, c % PANEL, total, c);
                } else {
                    plainNibbles(x, offset, matrix, panel, c % PANEL, total, c);
                }
            }
            return;
        }
        long next = hasAll ? format.panelBytes(matrix.rows()) : 0;
        for (int c = 0; c < COLUMNS; c += SUMS * LANES) {
            switch (format.bits()) {
                case 4 -> nibbles(x, offset, blockSums, matrix, column, next, c, total);
                case 5 -> fiveBits(x, offset, blockSums, matrix, column, next, c, total);
                default -> sixBits(x, offset, matrix, column, next, c, total);
            }
        }
    }

    /** Q8_0 and Q4_0: memory is read in the order in which it lies. */
    private static boolean hasScalesAlone(BlockFormat format) {
        return !format.hasMinimum() && !format.isTwoLevel() && format.bits() != 5;
    }

    /** Where a column of one of the panels lies. */
    private static long at(long first, long next, int column, int bytes) {
        return first + column / PANEL * next + (long) (column % PANEL) * bytes;
    }

    /** Q8_0: quants are bytes. */
    private static void bytes(float[] x, int offset, BlockData matrix, int column, int c, float[] total, int to) {
        BlockFormat format = matrix.format();
        MemorySegment data = matrix.data();
        int depth = matrix.rows();
        int groupBytes = format.groupBytes();
        long first = matrix.groupAt(0, column);
        long at = first + format.quantsAt() + c;
        long scale = first + (long) c * Float.BYTES;
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
            for (int block = start; block < end; block += BLOCK) {
                long group = (long) (block / BLOCK) * groupBytes;
                FloatVector sum0 = FloatVector.zero(FLOATS);
                FloatVector sum1 = FloatVector.zero(FLOATS);
                FloatVector sum2 = FloatVector.zero(FLOATS);
                FloatVector sum3 = FloatVector.zero(FLOATS);
                for (int k = 0; k < BLOCK; k++) {
                    long row = group + (long) k * PANEL;
                    FloatVector input = FloatVector.broadcast(FLOATS, x[offset + block + k]);
                    sum0 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at + row, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(input, sum0);
                    sum1 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at + row + LANES, ORDER)
                                    .convertShape(VectorOperators.B2F, FLOATS, 0))
                            .fma(input, sum1);
                    if (OWN > 2) {
                        sum2 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at + row + 2L * LANES, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0))
                                .fma(input, sum2);
                        sum3 = ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at + row + 3L * LANES, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0))
                                .fma(input, sum3);
                    }
                }
                slice0 = sum0.fma(FloatVector.fromMemorySegment(FLOATS, data, scale + group, ORDER), slice0);
                slice1 = sum1.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale + group + (long) Float.BYTES * LANES, ORDER),
                        slice1);
                if (OWN > 2) {
                    slice2 = sum2.fma(
                            FloatVector.fromMemorySegment(
                                    FLOATS, data, scale + group + 2L * Float.BYTES * LANES, ORDER),
                            slice2);
                    slice3 = sum3.fma(
                            FloatVector.fromMemorySegment(
                                    FLOATS, data, scale + group + 3L * Float.BYTES * LANES, ORDER),
                            slice3);
                }
            }
            total0 = total0.add(slice0);
            total1 = total1.add(slice1);
            if (OWN > 2) {
                total2 = total2.add(slice2);
                total3 = total3.add(slice3);
            }
        }
        total0.intoArray(total, to);
        total1.intoArray(total, to + LANES);
        if (OWN > 2) {
            total2.intoArray(total, to + 2 * LANES);
            total3.intoArray(total, to + 3 * LANES);
        }
    }

    /** Q4_0: a byte has the quants of two rows, and there is nothing but a scale. */
    private static void plainNibbles(
            float[] x, int offset, BlockData matrix, int column, int c, float[] total, int to) {
        BlockFormat format = matrix.format();
        MemorySegment data = matrix.data();
        int depth = matrix.rows();
        int groupBytes = format.groupBytes();
        long first = matrix.groupAt(0, column);
        long at = first + format.quantsAt() + c;
        long scale = first + (long) c * Float.BYTES;
        FloatVector evenZero = FloatVector.broadcast(FLOATS, EVEN_BASE + format.offset());
        FloatVector oddZero = FloatVector.broadcast(FLOATS, ODD_BASE + format.offset());
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
            for (int block = start; block < end; block += BLOCK) {
                long group = (long) (block / BLOCK) * groupBytes;
                FloatVector sum0 = FloatVector.zero(FLOATS);
                FloatVector sum1 = FloatVector.zero(FLOATS);
                FloatVector sum2 = FloatVector.zero(FLOATS);
                FloatVector sum3 = FloatVector.zero(FLOATS);
                for (int k = 0; k < BLOCK; k += 2) {
                    long row = group + (long) k * (PANEL / 2);
                    FloatVector even = FloatVector.broadcast(FLOATS, x[offset + block + k]);
                    FloatVector odd = FloatVector.broadcast(FLOATS, x[offset + block + k + 1]);
                    IntVector pair0 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    sum0 = pair0.and(EVEN)
                            .or(EVEN_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum0);
                    sum0 = pair0.and(ODD)
                            .or(ODD_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum0);
                    IntVector pair1 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at + row + LANES, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    sum1 = pair1.and(EVEN)
                            .or(EVEN_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum1);
                    sum1 = pair1.and(ODD)
                            .or(ODD_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum1);
                    if (OWN > 2) {
                        IntVector pair2 =
                                (IntVector) ByteVector.fromMemorySegment(BYTES, data, at + row + 2L * LANES, ORDER)
                                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                        sum2 = pair2.and(EVEN)
                                .or(EVEN_BASE_BITS)
                                .reinterpretAsFloats()
                                .sub(evenZero)
                                .fma(even, sum2);
                        sum2 = pair2.and(ODD)
                                .or(ODD_BASE_BITS)
                                .reinterpretAsFloats()
                                .sub(oddZero)
                                .fma(odd, sum2);
                        IntVector pair3 =
                                (IntVector) ByteVector.fromMemorySegment(BYTES, data, at + row + 3L * LANES, ORDER)
                                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                        sum3 = pair3.and(EVEN)
                                .or(EVEN_BASE_BITS)
                                .reinterpretAsFloats()
                                .sub(evenZero)
                                .fma(even, sum3);
                        sum3 = pair3.and(ODD)
                                .or(ODD_BASE_BITS)
                                .reinterpretAsFloats()
                                .sub(oddZero)
                                .fma(odd, sum3);
                    }
                }
                slice0 = sum0.fma(FloatVector.fromMemorySegment(FLOATS, data, scale + group, ORDER), slice0);
                slice1 = sum1.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale + group + (long) Float.BYTES * LANES, ORDER),
                        slice1);
                if (OWN > 2) {
                    slice2 = sum2.fma(
                            FloatVector.fromMemorySegment(
                                    FLOATS, data, scale + group + 2L * Float.BYTES * LANES, ORDER),
                            slice2);
                    slice3 = sum3.fma(
                            FloatVector.fromMemorySegment(
                                    FLOATS, data, scale + group + 3L * Float.BYTES * LANES, ORDER),
                            slice3);
                }
            }
            total0 = total0.add(slice0);
            total1 = total1.add(slice1);
            if (OWN > 2) {
                total2 = total2.add(slice2);
                total3 = total3.add(slice3);
            }
        }
        total0.intoArray(total, to);
        total1.intoArray(total, to + LANES);
        if (OWN > 2) {
            total2.intoArray(total, to + 2 * LANES);
            total3.intoArray(total, to + 3 * LANES);
        }
    }

    /** Q4_1, Q4_K: a byte has the quants of two rows. */
    private static void nibbles(
            float[] x, int offset, float[] blockSums, BlockData matrix, int column, long next, int c, float[] total) {
        BlockFormat format = matrix.format();
        MemorySegment data = matrix.data();
        int depth = matrix.rows();
        int groupShift = Integer.numberOfTrailingZeros(format.groupRows());
        int inGroup = format.groupRows() - 1;
        int groupBytes = format.groupBytes();
        long first = matrix.groupAt(0, column);
        long at0 = at(first + format.quantsAt(), next, c, Byte.BYTES);
        long at1 = at(first + format.quantsAt(), next, c + LANES, Byte.BYTES);
        long at2 = at(first + format.quantsAt(), next, c + 2 * LANES, Byte.BYTES);
        long at3 = at(first + format.quantsAt(), next, c + 3 * LANES, Byte.BYTES);
        long scale0 = at(first, next, c, Float.BYTES);
        long scale1 = at(first, next, c + LANES, Float.BYTES);
        long scale2 = at(first, next, c + 2 * LANES, Float.BYTES);
        long scale3 = at(first, next, c + 3 * LANES, Float.BYTES);
        VectorMask<Float> twoLevels = FLOATS.maskAll(format.isTwoLevel());
        int smalls = format.isTwoLevel() ? format.scaleAt(0) - format.quantsAt() : 0;
        int minima = format.minimaAt();
        int smallMinima = format.isTwoLevel() ? format.minimumAt(0) - format.quantsAt() : 0;
        FloatVector one = FloatVector.broadcast(FLOATS, 1f);
        FloatVector evenZero = FloatVector.broadcast(FLOATS, EVEN_BASE + format.offset());
        FloatVector oddZero = FloatVector.broadcast(FLOATS, ODD_BASE + format.offset());
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
            for (int block = start; block < end; block += BLOCK) {
                long group = (long) (block >> groupShift) * groupBytes;
                long quants = group + (long) (block & inGroup) * (PANEL / 2);
                FloatVector sum0 = FloatVector.zero(FLOATS);
                FloatVector sum1 = FloatVector.zero(FLOATS);
                FloatVector sum2 = FloatVector.zero(FLOATS);
                FloatVector sum3 = FloatVector.zero(FLOATS);
                for (int k = 0; k < BLOCK; k += 2) {
                    long row = quants + (long) k * (PANEL / 2);
                    FloatVector even = FloatVector.broadcast(FLOATS, x[offset + block + k]);
                    FloatVector odd = FloatVector.broadcast(FLOATS, x[offset + block + k + 1]);
                    IntVector pair0 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at0 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    sum0 = pair0.and(EVEN)
                            .or(EVEN_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum0);
                    sum0 = pair0.and(ODD)
                            .or(ODD_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum0);
                    IntVector pair1 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at1 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    sum1 = pair1.and(EVEN)
                            .or(EVEN_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum1);
                    sum1 = pair1.and(ODD)
                            .or(ODD_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum1);
                    IntVector pair2 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at2 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    sum2 = pair2.and(EVEN)
                            .or(EVEN_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum2);
                    sum2 = pair2.and(ODD)
                            .or(ODD_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum2);
                    IntVector pair3 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at3 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    sum3 = pair3.and(EVEN)
                            .or(EVEN_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum3);
                    sum3 = pair3.and(ODD)
                            .or(ODD_BASE_BITS)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum3);
                }
                long small = group + smalls + (long) ((block & inGroup) / BLOCK) * PANEL;
                long smallMinimum = group + smallMinima + (long) ((block & inGroup) / BLOCK) * PANEL;
                long minimum = group + minima;
                FloatVector inputs = FloatVector.broadcast(FLOATS, blockSums[block / BLOCK]);
                FloatVector scaled0 = sum0.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale0 + group, ORDER)
                                .mul(one.blend(
                                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at0 + small, ORDER)
                                                .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                        twoLevels)),
                        slice0);
                slice0 = FloatVector.fromMemorySegment(FLOATS, data, scale0 + minimum, ORDER)
                        .mul(one.blend(
                                ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at0 + smallMinimum, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                twoLevels))
                        .fma(inputs, scaled0);
                FloatVector scaled1 = sum1.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale1 + group, ORDER)
                                .mul(one.blend(
                                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at1 + small, ORDER)
                                                .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                        twoLevels)),
                        slice1);
                slice1 = FloatVector.fromMemorySegment(FLOATS, data, scale1 + minimum, ORDER)
                        .mul(one.blend(
                                ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at1 + smallMinimum, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                twoLevels))
                        .fma(inputs, scaled1);
                FloatVector scaled2 = sum2.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale2 + group, ORDER)
                                .mul(one.blend(
                                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at2 + small, ORDER)
                                                .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                        twoLevels)),
                        slice2);
                slice2 = FloatVector.fromMemorySegment(FLOATS, data, scale2 + minimum, ORDER)
                        .mul(one.blend(
                                ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at2 + smallMinimum, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                twoLevels))
                        .fma(inputs, scaled2);
                FloatVector scaled3 = sum3.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale3 + group, ORDER)
                                .mul(one.blend(
                                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at3 + small, ORDER)
                                                .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                        twoLevels)),
                        slice3);
                slice3 = FloatVector.fromMemorySegment(FLOATS, data, scale3 + minimum, ORDER)
                        .mul(one.blend(
                                ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at3 + smallMinimum, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                twoLevels))
                        .fma(inputs, scaled3);
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

    /** A byte has the lower bits of two rows, another the fifth of eight. */
    private static void fiveBits(
            float[] x, int offset, float[] blockSums, BlockData matrix, int column, long next, int c, float[] total) {
        BlockFormat format = matrix.format();
        MemorySegment data = matrix.data();
        int depth = matrix.rows();
        int groupShift = Integer.numberOfTrailingZeros(format.groupRows());
        int inGroup = format.groupRows() - 1;
        int groupBytes = format.groupBytes();
        long first = matrix.groupAt(0, column);
        long at0 = at(first + format.quantsAt(), next, c, Byte.BYTES);
        long at1 = at(first + format.quantsAt(), next, c + LANES, Byte.BYTES);
        long at2 = at(first + format.quantsAt(), next, c + 2 * LANES, Byte.BYTES);
        long at3 = at(first + format.quantsAt(), next, c + 3 * LANES, Byte.BYTES);
        long scale0 = at(first, next, c, Float.BYTES);
        long scale1 = at(first, next, c + LANES, Float.BYTES);
        long scale2 = at(first, next, c + 2 * LANES, Float.BYTES);
        long scale3 = at(first, next, c + 3 * LANES, Float.BYTES);
        VectorMask<Float> twoLevels = FLOATS.maskAll(format.isTwoLevel());
        VectorMask<Float> withMinima = FLOATS.maskAll(format.hasMinimum());
        int smalls = format.isTwoLevel() ? format.scaleAt(0) - format.quantsAt() : 0;
        int minima = format.hasMinimum() ? format.minimaAt() : 0;
        int smallMinima = format.isTwoLevel() && format.hasMinimum() ? format.minimumAt(0) - format.quantsAt() : 0;
        FloatVector one = FloatVector.broadcast(FLOATS, 1f);
        FloatVector evenZero = FloatVector.broadcast(FLOATS, EVEN_BASE + format.offset());
        FloatVector oddZero = FloatVector.broadcast(FLOATS, ODD_BASE + format.offset());
        int toHighs = format.highAt() - format.quantsAt();
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
            for (int block = start; block < end; block += BLOCK) {
                long group = (long) (block >> groupShift) * groupBytes;
                int inside = block & inGroup;
                long quants = group + (long) inside * (PANEL / 2);
                long highs = group + toHighs + (long) inside * (PANEL / 8);
                FloatVector sum0 = FloatVector.zero(FLOATS);
                FloatVector sum1 = FloatVector.zero(FLOATS);
                FloatVector sum2 = FloatVector.zero(FLOATS);
                FloatVector sum3 = FloatVector.zero(FLOATS);
                for (int k = 0; k < BLOCK; k += 2) {
                    long row = quants + (long) k * (PANEL / 2);
                    long highRow = highs + (long) (k / 8) * PANEL;
                    int toOdd = 8 - (k % 8 + 1) * 1;
                    FloatVector even = FloatVector.broadcast(FLOATS, x[offset + block + k]);
                    FloatVector odd = FloatVector.broadcast(FLOATS, x[offset + block + k + 1]);
                    IntVector pair0 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at0 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector high0 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, at0 + highRow, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                            .lanewise(VectorOperators.LSHL, toOdd);
                    IntVector even0 =
                            high0.lanewise(VectorOperators.LSHR, 3).and(0x10).or(EVEN_BASE_BITS);
                    sum0 = pair0.and(EVEN)
                            .or(even0)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum0);
                    IntVector odd0 = high0.and(0x100).or(ODD_BASE_BITS);
                    sum0 = pair0.and(ODD)
                            .or(odd0)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum0);
                    IntVector pair1 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at1 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector high1 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, at1 + highRow, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                            .lanewise(VectorOperators.LSHL, toOdd);
                    IntVector even1 =
                            high1.lanewise(VectorOperators.LSHR, 3).and(0x10).or(EVEN_BASE_BITS);
                    sum1 = pair1.and(EVEN)
                            .or(even1)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum1);
                    IntVector odd1 = high1.and(0x100).or(ODD_BASE_BITS);
                    sum1 = pair1.and(ODD)
                            .or(odd1)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum1);
                    IntVector pair2 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at2 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector high2 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, at2 + highRow, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                            .lanewise(VectorOperators.LSHL, toOdd);
                    IntVector even2 =
                            high2.lanewise(VectorOperators.LSHR, 3).and(0x10).or(EVEN_BASE_BITS);
                    sum2 = pair2.and(EVEN)
                            .or(even2)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum2);
                    IntVector odd2 = high2.and(0x100).or(ODD_BASE_BITS);
                    sum2 = pair2.and(ODD)
                            .or(odd2)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum2);
                    IntVector pair3 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at3 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector high3 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, at3 + highRow, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                            .lanewise(VectorOperators.LSHL, toOdd);
                    IntVector even3 =
                            high3.lanewise(VectorOperators.LSHR, 3).and(0x10).or(EVEN_BASE_BITS);
                    sum3 = pair3.and(EVEN)
                            .or(even3)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum3);
                    IntVector odd3 = high3.and(0x100).or(ODD_BASE_BITS);
                    sum3 = pair3.and(ODD)
                            .or(odd3)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum3);
                }
                long small = group + smalls + (long) (inside / BLOCK) * PANEL;
                long smallMinimum = group + smallMinima + (long) (inside / BLOCK) * PANEL;
                long minimum = group + minima;
                FloatVector inputs = FloatVector.broadcast(FLOATS, blockSums[block / BLOCK]);
                FloatVector scaled0 = sum0.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale0 + group, ORDER)
                                .mul(one.blend(
                                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at0 + small, ORDER)
                                                .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                        twoLevels)),
                        slice0);
                FloatVector raised0 = FloatVector.fromMemorySegment(FLOATS, data, scale0 + minimum, ORDER)
                        .mul(one.blend(
                                ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at0 + smallMinimum, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                twoLevels))
                        .fma(inputs, scaled0);
                slice0 = scaled0.blend(raised0, withMinima);
                FloatVector scaled1 = sum1.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale1 + group, ORDER)
                                .mul(one.blend(
                                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at1 + small, ORDER)
                                                .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                        twoLevels)),
                        slice1);
                FloatVector raised1 = FloatVector.fromMemorySegment(FLOATS, data, scale1 + minimum, ORDER)
                        .mul(one.blend(
                                ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at1 + smallMinimum, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                twoLevels))
                        .fma(inputs, scaled1);
                slice1 = scaled1.blend(raised1, withMinima);
                FloatVector scaled2 = sum2.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale2 + group, ORDER)
                                .mul(one.blend(
                                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at2 + small, ORDER)
                                                .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                        twoLevels)),
                        slice2);
                FloatVector raised2 = FloatVector.fromMemorySegment(FLOATS, data, scale2 + minimum, ORDER)
                        .mul(one.blend(
                                ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at2 + smallMinimum, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                twoLevels))
                        .fma(inputs, scaled2);
                slice2 = scaled2.blend(raised2, withMinima);
                FloatVector scaled3 = sum3.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale3 + group, ORDER)
                                .mul(one.blend(
                                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at3 + small, ORDER)
                                                .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                        twoLevels)),
                        slice3);
                FloatVector raised3 = FloatVector.fromMemorySegment(FLOATS, data, scale3 + minimum, ORDER)
                        .mul(one.blend(
                                ((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at3 + smallMinimum, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0)),
                                twoLevels))
                        .fma(inputs, scaled3);
                slice3 = scaled3.blend(raised3, withMinima);
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

    /** Q6_K: a byte has the lower bits of two rows, another the upper of four. */
    private static void sixBits(float[] x, int offset, BlockData matrix, int column, long next, int c, float[] total) {
        BlockFormat format = matrix.format();
        MemorySegment data = matrix.data();
        int depth = matrix.rows();
        int groupBytes = format.groupBytes();
        long first = matrix.groupAt(0, column);
        long at0 = at(first + format.quantsAt(), next, c, Byte.BYTES);
        long at1 = at(first + format.quantsAt(), next, c + LANES, Byte.BYTES);
        long at2 = at(first + format.quantsAt(), next, c + 2 * LANES, Byte.BYTES);
        long at3 = at(first + format.quantsAt(), next, c + 3 * LANES, Byte.BYTES);
        long scale0 = at(first, next, c, Float.BYTES);
        long scale1 = at(first, next, c + LANES, Float.BYTES);
        long scale2 = at(first, next, c + 2 * LANES, Float.BYTES);
        long scale3 = at(first, next, c + 3 * LANES, Float.BYTES);
        int smalls = format.scaleAt(0) - format.quantsAt();
        FloatVector evenZero = FloatVector.broadcast(FLOATS, EVEN_BASE + format.offset());
        FloatVector oddZero = FloatVector.broadcast(FLOATS, ODD_BASE + format.offset());
        int toHighs = format.highAt() - format.quantsAt();
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
            for (int block = start; block < end; block += SMALL_BLOCK) {
                long group = (long) (block / BlockFormat.MAX_GROUP) * groupBytes;
                int inside = block % BlockFormat.MAX_GROUP;
                long quants = group + (long) inside * (PANEL / 2);
                long highs = group + toHighs + (long) inside * (PANEL / 4);
                FloatVector sum0 = FloatVector.zero(FLOATS);
                FloatVector sum1 = FloatVector.zero(FLOATS);
                FloatVector sum2 = FloatVector.zero(FLOATS);
                FloatVector sum3 = FloatVector.zero(FLOATS);
                for (int k = 0; k < SMALL_BLOCK; k += 2) {
                    long row = quants + (long) k * (PANEL / 2);
                    long highRow = highs + (long) (k / 4) * PANEL;
                    int toOdd = 8 - (k % 4 + 1) * 2;
                    FloatVector even = FloatVector.broadcast(FLOATS, x[offset + block + k]);
                    FloatVector odd = FloatVector.broadcast(FLOATS, x[offset + block + k + 1]);
                    IntVector pair0 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at0 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector high0 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, at0 + highRow, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                            .lanewise(VectorOperators.LSHL, toOdd);
                    IntVector even0 =
                            high0.lanewise(VectorOperators.LSHR, 2).and(0x30).or(EVEN_BASE_BITS);
                    sum0 = pair0.and(EVEN)
                            .or(even0)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum0);
                    IntVector odd0 = high0.and(0x300).or(ODD_BASE_BITS);
                    sum0 = pair0.and(ODD)
                            .or(odd0)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum0);
                    IntVector pair1 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at1 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector high1 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, at1 + highRow, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                            .lanewise(VectorOperators.LSHL, toOdd);
                    IntVector even1 =
                            high1.lanewise(VectorOperators.LSHR, 2).and(0x30).or(EVEN_BASE_BITS);
                    sum1 = pair1.and(EVEN)
                            .or(even1)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum1);
                    IntVector odd1 = high1.and(0x300).or(ODD_BASE_BITS);
                    sum1 = pair1.and(ODD)
                            .or(odd1)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum1);
                    IntVector pair2 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at2 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector high2 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, at2 + highRow, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                            .lanewise(VectorOperators.LSHL, toOdd);
                    IntVector even2 =
                            high2.lanewise(VectorOperators.LSHR, 2).and(0x30).or(EVEN_BASE_BITS);
                    sum2 = pair2.and(EVEN)
                            .or(even2)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum2);
                    IntVector odd2 = high2.and(0x300).or(ODD_BASE_BITS);
                    sum2 = pair2.and(ODD)
                            .or(odd2)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum2);
                    IntVector pair3 = (IntVector) ByteVector.fromMemorySegment(BYTES, data, at3 + row, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector high3 = ((IntVector) ByteVector.fromMemorySegment(BYTES, data, at3 + highRow, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0))
                            .lanewise(VectorOperators.LSHL, toOdd);
                    IntVector even3 =
                            high3.lanewise(VectorOperators.LSHR, 2).and(0x30).or(EVEN_BASE_BITS);
                    sum3 = pair3.and(EVEN)
                            .or(even3)
                            .reinterpretAsFloats()
                            .sub(evenZero)
                            .fma(even, sum3);
                    IntVector odd3 = high3.and(0x300).or(ODD_BASE_BITS);
                    sum3 = pair3.and(ODD)
                            .or(odd3)
                            .reinterpretAsFloats()
                            .sub(oddZero)
                            .fma(odd, sum3);
                }
                long small = group + smalls + (long) (inside / SMALL_BLOCK) * PANEL;
                slice0 = sum0.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale0 + group, ORDER)
                                .mul(((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at0 + small, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0))),
                        slice0);
                slice1 = sum1.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale1 + group, ORDER)
                                .mul(((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at1 + small, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0))),
                        slice1);
                slice2 = sum2.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale2 + group, ORDER)
                                .mul(((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at2 + small, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0))),
                        slice2);
                slice3 = sum3.fma(
                        FloatVector.fromMemorySegment(FLOATS, data, scale3 + group, ORDER)
                                .mul(((FloatVector) ByteVector.fromMemorySegment(BYTES, data, at3 + small, ORDER)
                                        .convertShape(VectorOperators.B2F, FLOATS, 0))),
                        slice3);
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
