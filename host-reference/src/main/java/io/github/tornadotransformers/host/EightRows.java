package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Eight consecutive rows of a matrix, each times its own factor, added to partial sums in order:
 * {@code sums[c] = ((sums[c] + x[k] * row_k[c]) + x[k+1] * row_k+1[c]) + …}.
 *
 * <p>There is a loop for each weight type, and none calls a method of ours: the compiler inlines only so many of those, and
 * each vector that a call returns would be an object on the heap.
 */
final class EightRows {
    static final int COUNT = 8;

    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Byte> BYTES = WidenedVectors.BYTES;
    private static final int LANES = VectorMath.LANES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** The upper half of an int: the odd one of two bf16 numbers. */
    private static final int UPPER = 0xFFFF0000;

    private EightRows() {}

    /** How many of so many columns the loops add: whole vectors. The rest is the caller's. */
    static int covered(DType dtype, int columns) {
        return switch (dtype) {
            case F32 -> columns - columns % LANES;
            case BF16 -> columns - columns % (2 * LANES);
            case INT8 -> Math.max(0, columns - BYTES.length() + LANES) / LANES * LANES;
            case F16 -> 0;
        };
    }

    static void addFloats(MemorySegment matrix, long first, int stride, float[] x, int k, int columns, float[] sums) {
        float x0 = x[k];
        float x1 = x[k + 1];
        float x2 = x[k + 2];
        float x3 = x[k + 3];
        float x4 = x[k + 4];
        float x5 = x[k + 5];
        float x6 = x[k + 6];
        float x7 = x[k + 7];
        long rowBytes = stride * (long) Float.BYTES;
        for (int c = 0; c < columns; c += LANES) {
            long at = (first + c) * Float.BYTES;
            FloatVector sum = FloatVector.fromArray(FLOATS, sums, c);
            sum = sum.add(
                    FloatVector.fromMemorySegment(FLOATS, matrix, at, ORDER).mul(x0));
            sum = sum.add(FloatVector.fromMemorySegment(FLOATS, matrix, at + rowBytes, ORDER)
                    .mul(x1));
            sum = sum.add(FloatVector.fromMemorySegment(FLOATS, matrix, at + 2 * rowBytes, ORDER)
                    .mul(x2));
            sum = sum.add(FloatVector.fromMemorySegment(FLOATS, matrix, at + 3 * rowBytes, ORDER)
                    .mul(x3));
            sum = sum.add(FloatVector.fromMemorySegment(FLOATS, matrix, at + 4 * rowBytes, ORDER)
                    .mul(x4));
            sum = sum.add(FloatVector.fromMemorySegment(FLOATS, matrix, at + 5 * rowBytes, ORDER)
                    .mul(x5));
            sum = sum.add(FloatVector.fromMemorySegment(FLOATS, matrix, at + 6 * rowBytes, ORDER)
                    .mul(x6));
            sum = sum.add(FloatVector.fromMemorySegment(FLOATS, matrix, at + 7 * rowBytes, ORDER)
                    .mul(x7));
            sum.intoArray(sums, c);
        }
    }

    /**
     * Two bf16 numbers are read as one int: the sums of each {@code 2 * LANES} columns lie as first those of the even columns,
     * then those of the odd ones; see {@link #interleave}.
     */
    static void addBf16(MemorySegment matrix, long first, int stride, float[] x, int k, int columns, float[] sums) {
        float x0 = x[k];
        float x1 = x[k + 1];
        float x2 = x[k + 2];
        float x3 = x[k + 3];
        float x4 = x[k + 4];
        float x5 = x[k + 5];
        float x6 = x[k + 6];
        float x7 = x[k + 7];
        long rowBytes = stride * (long) Short.BYTES;
        for (int c = 0; c < columns; c += 2 * LANES) {
            long at = (first + c) * Short.BYTES;
            FloatVector even = FloatVector.fromArray(FLOATS, sums, c);
            FloatVector odd = FloatVector.fromArray(FLOATS, sums, c + LANES);
            IntVector pair = IntVector.fromMemorySegment(INTS, matrix, at, ORDER);
            even = even.add(pair.lanewise(VectorOperators.LSHL, 16)
                    .reinterpretAsFloats()
                    .mul(x0));
            odd = odd.add(pair.and(UPPER).reinterpretAsFloats().mul(x0));
            pair = IntVector.fromMemorySegment(INTS, matrix, at + rowBytes, ORDER);
            even = even.add(pair.lanewise(VectorOperators.LSHL, 16)
                    .reinterpretAsFloats()
                    .mul(x1));
            odd = odd.add(pair.and(UPPER).reinterpretAsFloats().mul(x1));
            pair = IntVector.fromMemorySegment(INTS, matrix, at + 2 * rowBytes, ORDER);
            even = even.add(pair.lanewise(VectorOperators.LSHL, 16)
                    .reinterpretAsFloats()
                    .mul(x2));
            odd = odd.add(pair.and(UPPER).reinterpretAsFloats().mul(x2));
            pair = IntVector.fromMemorySegment(INTS, matrix, at + 3 * rowBytes, ORDER);
            even = even.add(pair.lanewise(VectorOperators.LSHL, 16)
                    .reinterpretAsFloats()
                    .mul(x3));
            odd = odd.add(pair.and(UPPER).reinterpretAsFloats().mul(x3));
            pair = IntVector.fromMemorySegment(INTS, matrix, at + 4 * rowBytes, ORDER);
            even = even.add(pair.lanewise(VectorOperators.LSHL, 16)
                    .reinterpretAsFloats()
                    .mul(x4));
            odd = odd.add(pair.and(UPPER).reinterpretAsFloats().mul(x4));
            pair = IntVector.fromMemorySegment(INTS, matrix, at + 5 * rowBytes, ORDER);
            even = even.add(pair.lanewise(VectorOperators.LSHL, 16)
                    .reinterpretAsFloats()
                    .mul(x5));
            odd = odd.add(pair.and(UPPER).reinterpretAsFloats().mul(x5));
            pair = IntVector.fromMemorySegment(INTS, matrix, at + 6 * rowBytes, ORDER);
            even = even.add(pair.lanewise(VectorOperators.LSHL, 16)
                    .reinterpretAsFloats()
                    .mul(x6));
            odd = odd.add(pair.and(UPPER).reinterpretAsFloats().mul(x6));
            pair = IntVector.fromMemorySegment(INTS, matrix, at + 7 * rowBytes, ORDER);
            even = even.add(pair.lanewise(VectorOperators.LSHL, 16)
                    .reinterpretAsFloats()
                    .mul(x7));
            odd = odd.add(pair.and(UPPER).reinterpretAsFloats().mul(x7));
            even.intoArray(sums, c);
            odd.intoArray(sums, c + LANES);
        }
    }

    static void addBytes(MemorySegment matrix, long first, int stride, float[] x, int k, int columns, float[] sums) {
        float x0 = x[k];
        float x1 = x[k + 1];
        float x2 = x[k + 2];
        float x3 = x[k + 3];
        float x4 = x[k + 4];
        float x5 = x[k + 5];
        float x6 = x[k + 6];
        float x7 = x[k + 7];
        long rowBytes = stride;
        for (int c = 0; c < columns; c += LANES) {
            long at = first + c;
            FloatVector sum = FloatVector.fromArray(FLOATS, sums, c);
            FloatVector row = (FloatVector)
                    ByteVector.fromMemorySegment(BYTES, matrix, at, ORDER).convertShape(VectorOperators.B2F, FLOATS, 0);
            sum = sum.add(row.mul(x0));
            row = (FloatVector) ByteVector.fromMemorySegment(BYTES, matrix, at + rowBytes, ORDER)
                    .convertShape(VectorOperators.B2F, FLOATS, 0);
            sum = sum.add(row.mul(x1));
            row = (FloatVector) ByteVector.fromMemorySegment(BYTES, matrix, at + 2 * rowBytes, ORDER)
                    .convertShape(VectorOperators.B2F, FLOATS, 0);
            sum = sum.add(row.mul(x2));
            row = (FloatVector) ByteVector.fromMemorySegment(BYTES, matrix, at + 3 * rowBytes, ORDER)
                    .convertShape(VectorOperators.B2F, FLOATS, 0);
            sum = sum.add(row.mul(x3));
            row = (FloatVector) ByteVector.fromMemorySegment(BYTES, matrix, at + 4 * rowBytes, ORDER)
                    .convertShape(VectorOperators.B2F, FLOATS, 0);
            sum = sum.add(row.mul(x4));
            row = (FloatVector) ByteVector.fromMemorySegment(BYTES, matrix, at + 5 * rowBytes, ORDER)
                    .convertShape(VectorOperators.B2F, FLOATS, 0);
            sum = sum.add(row.mul(x5));
            row = (FloatVector) ByteVector.fromMemorySegment(BYTES, matrix, at + 6 * rowBytes, ORDER)
                    .convertShape(VectorOperators.B2F, FLOATS, 0);
            sum = sum.add(row.mul(x6));
            row = (FloatVector) ByteVector.fromMemorySegment(BYTES, matrix, at + 7 * rowBytes, ORDER)
                    .convertShape(VectorOperators.B2F, FLOATS, 0);
            sum = sum.add(row.mul(x7));
            sum.intoArray(sums, c);
        }
    }

    /** Puts the sums that {@link #addBf16} has left in the columns' order. */
    static void interleave(float[] sums, int columns, float[] scratch) {
        for (int c = 0; c < columns; c += 2 * LANES) {
            System.arraycopy(sums, c, scratch, 0, 2 * LANES);
            for (int i = 0; i < LANES; i++) {
                sums[c + 2 * i] = scratch[i];
                sums[c + 2 * i + 1] = scratch[LANES + i];
            }
        }
    }
}
