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
 * The loops of {@link Tiles} on a panel of weights where it lies. What comes from memory serves all rows of a tile, and the next
 * tile finds it in the first-level cache; no copy is made. Each tile converts weights that are not float32 again.
 */
final class StoredTiles {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = VectorMath.INTS;
    private static final VectorSpecies<Byte> BYTES = WidenedRows.BYTES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final int LANES = VectorMath.LANES;
    private static final long VECTOR_BYTES = (long) LANES * Float.BYTES;
    private static final int COLUMNS = Tiles.COLUMNS;
    private static final int HALF = COLUMNS / 2;

    /** The upper half of an int: the second of two bf16 numbers. */
    private static final int UPPER = 0xFFFF_0000;

    /** From so many tiles on, weights of INT8 are converted once for all of them. */
    private static final int MANY_TILES = 6;

    private StoredTiles() {}

    /** Whether {@link #accumulate} can do it, and should. */
    static boolean take(HostMatrix matrix, int column, int rows) {
        return PanelSweep.takes(matrix, column)
                && !Tiles.copies(rows)
                && switch (matrix.dtype()) {
                    case F32, BF16 -> true;
                    case STORED -> false;
                    case F16 -> false; // the compiler makes vectors of its conversion for arrays only
                    case INT8 -> rows < MANY_TILES * Tiles.ROWS;
                };
    }

    /**
     * {@code sums[to + r * COLUMNS + c] += x[at + k * height + r] * matrix[row + k][column + c]} for {@code k < depth}, in order, within
     * a slice.
     *
     * @param height of a tile: {@link Tiles#height}
     * @param row where a block of INT8 begins
     */
    static void accumulate(
            float[] x, int at, int height, HostMatrix matrix, int row, int column, int depth, float[] sums, int to) {
        MemorySegment elements = matrix.elements();
        long first = matrix.index(row, column) * matrix.dtype().bytes();
        boolean few = height == Tiles.LOW;
        switch (matrix.dtype()) {
            case F32 -> {
                for (int c = 0; c < COLUMNS; c += 2 * LANES) {
                    long from = first + (long) c * Float.BYTES;
                    if (few) {
                        floatsByFew(x, at, elements, from, depth, sums, to + c);
                    } else {
                        floatsByMany(x, at, elements, from, depth, sums, to + c);
                    }
                }
            }
            case BF16 -> {
                for (int c = 0; c < HALF; c += LANES) {
                    long from = first + (long) c * Integer.BYTES;
                    if (few) {
                        pairsByFew(x, at, elements, from, depth, sums, to + c);
                    } else {
                        pairsByMany(x, at, elements, from, depth, sums, to + c);
                    }
                }
            }
            case INT8 -> {
                MemorySegment scales = matrix.scales();
                long firstScale = matrix.scaleIndex(row / DType.BLOCK, column) * Float.BYTES;
                for (int c = 0; c < COLUMNS; c += 2 * LANES) {
                    long scale = firstScale + (long) c * Float.BYTES;
                    if (few) {
                        bytesByFew(x, at, elements, first + c, scales, scale, depth, sums, to + c);
                    } else {
                        bytesByMany(x, at, elements, first + c, scales, scale, depth, sums, to + c);
                    }
                }
            }
            case F16, STORED -> throw new IllegalArgumentException(matrix.dtype() + " is not multiplied where it lies");
        }
    }

    private static void floatsByFew(
            float[] x, int at, MemorySegment panel, long first, int depth, float[] sums, int c) {
        FloatVector a0 = FloatVector.fromArray(FLOATS, sums, c);
        FloatVector b0 = FloatVector.fromArray(FLOATS, sums, c + LANES);
        FloatVector a1 = FloatVector.fromArray(FLOATS, sums, c + COLUMNS);
        FloatVector b1 = FloatVector.fromArray(FLOATS, sums, c + COLUMNS + LANES);
        FloatVector a2 = FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS);
        FloatVector b2 = FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS + LANES);
        FloatVector a3 = FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS);
        FloatVector b3 = FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS + LANES);
        for (int k = 0; k < depth; k++) {
            long row = first + (long) k * (COLUMNS * Float.BYTES);
            FloatVector a = FloatVector.fromMemorySegment(FLOATS, panel, row, ORDER);
            FloatVector b = FloatVector.fromMemorySegment(FLOATS, panel, row + VECTOR_BYTES, ORDER);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[at + 4 * k]);
            a0 = a.fma(factor, a0);
            b0 = b.fma(factor, b0);
            factor = FloatVector.broadcast(FLOATS, x[at + 4 * k + 1]);
            a1 = a.fma(factor, a1);
            b1 = b.fma(factor, b1);
            factor = FloatVector.broadcast(FLOATS, x[at + 4 * k + 2]);
            a2 = a.fma(factor, a2);
            b2 = b.fma(factor, b2);
            factor = FloatVector.broadcast(FLOATS, x[at + 4 * k + 3]);
            a3 = a.fma(factor, a3);
            b3 = b.fma(factor, b3);
        }
        a0.intoArray(sums, c);
        b0.intoArray(sums, c + LANES);
        a1.intoArray(sums, c + COLUMNS);
        b1.intoArray(sums, c + COLUMNS + LANES);
        a2.intoArray(sums, c + 2 * COLUMNS);
        b2.intoArray(sums, c + 2 * COLUMNS + LANES);
        a3.intoArray(sums, c + 3 * COLUMNS);
        b3.intoArray(sums, c + 3 * COLUMNS + LANES);
    }

    private static void floatsByMany(
            float[] x, int at, MemorySegment panel, long first, int depth, float[] sums, int c) {
        FloatVector a0 = FloatVector.fromArray(FLOATS, sums, c);
        FloatVector b0 = FloatVector.fromArray(FLOATS, sums, c + LANES);
        FloatVector a1 = FloatVector.fromArray(FLOATS, sums, c + COLUMNS);
        FloatVector b1 = FloatVector.fromArray(FLOATS, sums, c + COLUMNS + LANES);
        FloatVector a2 = FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS);
        FloatVector b2 = FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS + LANES);
        FloatVector a3 = FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS);
        FloatVector b3 = FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS + LANES);
        FloatVector a4 = FloatVector.fromArray(FLOATS, sums, c + 4 * COLUMNS);
        FloatVector b4 = FloatVector.fromArray(FLOATS, sums, c + 4 * COLUMNS + LANES);
        FloatVector a5 = FloatVector.fromArray(FLOATS, sums, c + 5 * COLUMNS);
        FloatVector b5 = FloatVector.fromArray(FLOATS, sums, c + 5 * COLUMNS + LANES);
        FloatVector a6 = FloatVector.fromArray(FLOATS, sums, c + 6 * COLUMNS);
        FloatVector b6 = FloatVector.fromArray(FLOATS, sums, c + 6 * COLUMNS + LANES);
        FloatVector a7 = FloatVector.fromArray(FLOATS, sums, c + 7 * COLUMNS);
        FloatVector b7 = FloatVector.fromArray(FLOATS, sums, c + 7 * COLUMNS + LANES);
        for (int k = 0; k < depth; k++) {
            long row = first + (long) k * (COLUMNS * Float.BYTES);
            FloatVector a = FloatVector.fromMemorySegment(FLOATS, panel, row, ORDER);
            FloatVector b = FloatVector.fromMemorySegment(FLOATS, panel, row + VECTOR_BYTES, ORDER);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[at + 8 * k]);
            a0 = a.fma(factor, a0);
            b0 = b.fma(factor, b0);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 1]);
            a1 = a.fma(factor, a1);
            b1 = b.fma(factor, b1);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 2]);
            a2 = a.fma(factor, a2);
            b2 = b.fma(factor, b2);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 3]);
            a3 = a.fma(factor, a3);
            b3 = b.fma(factor, b3);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 4]);
            a4 = a.fma(factor, a4);
            b4 = b.fma(factor, b4);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 5]);
            a5 = a.fma(factor, a5);
            b5 = b.fma(factor, b5);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 6]);
            a6 = a.fma(factor, a6);
            b6 = b.fma(factor, b6);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 7]);
            a7 = a.fma(factor, a7);
            b7 = b.fma(factor, b7);
        }
        a0.intoArray(sums, c);
        b0.intoArray(sums, c + LANES);
        a1.intoArray(sums, c + COLUMNS);
        b1.intoArray(sums, c + COLUMNS + LANES);
        a2.intoArray(sums, c + 2 * COLUMNS);
        b2.intoArray(sums, c + 2 * COLUMNS + LANES);
        a3.intoArray(sums, c + 3 * COLUMNS);
        b3.intoArray(sums, c + 3 * COLUMNS + LANES);
        a4.intoArray(sums, c + 4 * COLUMNS);
        b4.intoArray(sums, c + 4 * COLUMNS + LANES);
        a5.intoArray(sums, c + 5 * COLUMNS);
        b5.intoArray(sums, c + 5 * COLUMNS + LANES);
        a6.intoArray(sums, c + 6 * COLUMNS);
        b6.intoArray(sums, c + 6 * COLUMNS + LANES);
        a7.intoArray(sums, c + 7 * COLUMNS);
        b7.intoArray(sums, c + 7 * COLUMNS + LANES);
    }

    /** A vector of pairs has columns in its lower halves, and others, half a panel further, in its upper. */
    private static void pairsByFew(float[] x, int at, MemorySegment panel, long first, int depth, float[] sums, int c) {
        FloatVector a0 = FloatVector.fromArray(FLOATS, sums, c);
        FloatVector b0 = FloatVector.fromArray(FLOATS, sums, c + HALF);
        FloatVector a1 = FloatVector.fromArray(FLOATS, sums, c + COLUMNS);
        FloatVector b1 = FloatVector.fromArray(FLOATS, sums, c + COLUMNS + HALF);
        FloatVector a2 = FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS);
        FloatVector b2 = FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS + HALF);
        FloatVector a3 = FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS);
        FloatVector b3 = FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS + HALF);
        for (int k = 0; k < depth; k++) {
            long row = first + (long) k * (COLUMNS * Short.BYTES);
            IntVector pairs = IntVector.fromMemorySegment(INTS, panel, row, ORDER);
            FloatVector a = pairs.lanewise(VectorOperators.LSHL, Short.SIZE).reinterpretAsFloats();
            FloatVector b = pairs.and(UPPER).reinterpretAsFloats();
            FloatVector factor = FloatVector.broadcast(FLOATS, x[at + 4 * k]);
            a0 = a.fma(factor, a0);
            b0 = b.fma(factor, b0);
            factor = FloatVector.broadcast(FLOATS, x[at + 4 * k + 1]);
            a1 = a.fma(factor, a1);
            b1 = b.fma(factor, b1);
            factor = FloatVector.broadcast(FLOATS, x[at + 4 * k + 2]);
            a2 = a.fma(factor, a2);
            b2 = b.fma(factor, b2);
            factor = FloatVector.broadcast(FLOATS, x[at + 4 * k + 3]);
            a3 = a.fma(factor, a3);
            b3 = b.fma(factor, b3);
        }
        a0.intoArray(sums, c);
        b0.intoArray(sums, c + HALF);
        a1.intoArray(sums, c + COLUMNS);
        b1.intoArray(sums, c + COLUMNS + HALF);
        a2.intoArray(sums, c + 2 * COLUMNS);
        b2.intoArray(sums, c + 2 * COLUMNS + HALF);
        a3.intoArray(sums, c + 3 * COLUMNS);
        b3.intoArray(sums, c + 3 * COLUMNS + HALF);
    }

    private static void pairsByMany(
            float[] x, int at, MemorySegment panel, long first, int depth, float[] sums, int c) {
        FloatVector a0 = FloatVector.fromArray(FLOATS, sums, c);
        FloatVector b0 = FloatVector.fromArray(FLOATS, sums, c + HALF);
        FloatVector a1 = FloatVector.fromArray(FLOATS, sums, c + COLUMNS);
        FloatVector b1 = FloatVector.fromArray(FLOATS, sums, c + COLUMNS + HALF);
        FloatVector a2 = FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS);
        FloatVector b2 = FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS + HALF);
        FloatVector a3 = FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS);
        FloatVector b3 = FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS + HALF);
        FloatVector a4 = FloatVector.fromArray(FLOATS, sums, c + 4 * COLUMNS);
        FloatVector b4 = FloatVector.fromArray(FLOATS, sums, c + 4 * COLUMNS + HALF);
        FloatVector a5 = FloatVector.fromArray(FLOATS, sums, c + 5 * COLUMNS);
        FloatVector b5 = FloatVector.fromArray(FLOATS, sums, c + 5 * COLUMNS + HALF);
        FloatVector a6 = FloatVector.fromArray(FLOATS, sums, c + 6 * COLUMNS);
        FloatVector b6 = FloatVector.fromArray(FLOATS, sums, c + 6 * COLUMNS + HALF);
        FloatVector a7 = FloatVector.fromArray(FLOATS, sums, c + 7 * COLUMNS);
        FloatVector b7 = FloatVector.fromArray(FLOATS, sums, c + 7 * COLUMNS + HALF);
        for (int k = 0; k < depth; k++) {
            long row = first + (long) k * (COLUMNS * Short.BYTES);
            IntVector pairs = IntVector.fromMemorySegment(INTS, panel, row, ORDER);
            FloatVector a = pairs.lanewise(VectorOperators.LSHL, Short.SIZE).reinterpretAsFloats();
            FloatVector b = pairs.and(UPPER).reinterpretAsFloats();
            FloatVector factor = FloatVector.broadcast(FLOATS, x[at + 8 * k]);
            a0 = a.fma(factor, a0);
            b0 = b.fma(factor, b0);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 1]);
            a1 = a.fma(factor, a1);
            b1 = b.fma(factor, b1);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 2]);
            a2 = a.fma(factor, a2);
            b2 = b.fma(factor, b2);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 3]);
            a3 = a.fma(factor, a3);
            b3 = b.fma(factor, b3);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 4]);
            a4 = a.fma(factor, a4);
            b4 = b.fma(factor, b4);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 5]);
            a5 = a.fma(factor, a5);
            b5 = b.fma(factor, b5);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 6]);
            a6 = a.fma(factor, a6);
            b6 = b.fma(factor, b6);
            factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 7]);
            a7 = a.fma(factor, a7);
            b7 = b.fma(factor, b7);
        }
        a0.intoArray(sums, c);
        b0.intoArray(sums, c + HALF);
        a1.intoArray(sums, c + COLUMNS);
        b1.intoArray(sums, c + COLUMNS + HALF);
        a2.intoArray(sums, c + 2 * COLUMNS);
        b2.intoArray(sums, c + 2 * COLUMNS + HALF);
        a3.intoArray(sums, c + 3 * COLUMNS);
        b3.intoArray(sums, c + 3 * COLUMNS + HALF);
        a4.intoArray(sums, c + 4 * COLUMNS);
        b4.intoArray(sums, c + 4 * COLUMNS + HALF);
        a5.intoArray(sums, c + 5 * COLUMNS);
        b5.intoArray(sums, c + 5 * COLUMNS + HALF);
        a6.intoArray(sums, c + 6 * COLUMNS);
        b6.intoArray(sums, c + 6 * COLUMNS + HALF);
        a7.intoArray(sums, c + 7 * COLUMNS);
        b7.intoArray(sums, c + 7 * COLUMNS + HALF);
    }

    /** A block's sum, in order from 0f, times its scales is what the slice, {@code sums}, adds. */
    private static void bytesByFew(
            float[] x,
            int at,
            MemorySegment panel,
            long first,
            MemorySegment scales,
            long firstScale,
            int depth,
            float[] sums,
            int c) {
        for (int block = 0; block < depth; block += DType.BLOCK) {
            int end = Math.min(block + DType.BLOCK, depth);
            FloatVector a0 = FloatVector.zero(FLOATS);
            FloatVector b0 = FloatVector.zero(FLOATS);
            FloatVector a1 = FloatVector.zero(FLOATS);
            FloatVector b1 = FloatVector.zero(FLOATS);
            FloatVector a2 = FloatVector.zero(FLOATS);
            FloatVector b2 = FloatVector.zero(FLOATS);
            FloatVector a3 = FloatVector.zero(FLOATS);
            FloatVector b3 = FloatVector.zero(FLOATS);
            for (int k = block; k < end; k++) {
                long row = first + (long) k * COLUMNS;
                FloatVector a = (FloatVector) ByteVector.fromMemorySegment(BYTES, panel, row, ORDER)
                        .convertShape(VectorOperators.B2F, FLOATS, 0);
                FloatVector b = (FloatVector) ByteVector.fromMemorySegment(BYTES, panel, row + LANES, ORDER)
                        .convertShape(VectorOperators.B2F, FLOATS, 0);
                FloatVector factor = FloatVector.broadcast(FLOATS, x[at + 4 * k]);
                a0 = a.fma(factor, a0);
                b0 = b.fma(factor, b0);
                factor = FloatVector.broadcast(FLOATS, x[at + 4 * k + 1]);
                a1 = a.fma(factor, a1);
                b1 = b.fma(factor, b1);
                factor = FloatVector.broadcast(FLOATS, x[at + 4 * k + 2]);
                a2 = a.fma(factor, a2);
                b2 = b.fma(factor, b2);
                factor = FloatVector.broadcast(FLOATS, x[at + 4 * k + 3]);
                a3 = a.fma(factor, a3);
                b3 = b.fma(factor, b3);
            }
            long scale = firstScale + (long) block / DType.BLOCK * (COLUMNS * Float.BYTES);
            FloatVector a = FloatVector.fromMemorySegment(FLOATS, scales, scale, ORDER);
            FloatVector b = FloatVector.fromMemorySegment(FLOATS, scales, scale + VECTOR_BYTES, ORDER);
            a0.fma(a, FloatVector.fromArray(FLOATS, sums, c)).intoArray(sums, c);
            b0.fma(b, FloatVector.fromArray(FLOATS, sums, c + LANES)).intoArray(sums, c + LANES);
            a1.fma(a, FloatVector.fromArray(FLOATS, sums, c + COLUMNS)).intoArray(sums, c + COLUMNS);
            b1.fma(b, FloatVector.fromArray(FLOATS, sums, c + COLUMNS + LANES)).intoArray(sums, c + COLUMNS + LANES);
            a2.fma(a, FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS)).intoArray(sums, c + 2 * COLUMNS);
            b2.fma(b, FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS + LANES))
                    .intoArray(sums, c + 2 * COLUMNS + LANES);
            a3.fma(a, FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS)).intoArray(sums, c + 3 * COLUMNS);
            b3.fma(b, FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS + LANES))
                    .intoArray(sums, c + 3 * COLUMNS + LANES);
        }
    }

    private static void bytesByMany(
            float[] x,
            int at,
            MemorySegment panel,
            long first,
            MemorySegment scales,
            long firstScale,
            int depth,
            float[] sums,
            int c) {
        for (int block = 0; block < depth; block += DType.BLOCK) {
            int end = Math.min(block + DType.BLOCK, depth);
            FloatVector a0 = FloatVector.zero(FLOATS);
            FloatVector b0 = FloatVector.zero(FLOATS);
            FloatVector a1 = FloatVector.zero(FLOATS);
            FloatVector b1 = FloatVector.zero(FLOATS);
            FloatVector a2 = FloatVector.zero(FLOATS);
            FloatVector b2 = FloatVector.zero(FLOATS);
            FloatVector a3 = FloatVector.zero(FLOATS);
            FloatVector b3 = FloatVector.zero(FLOATS);
            FloatVector a4 = FloatVector.zero(FLOATS);
            FloatVector b4 = FloatVector.zero(FLOATS);
            FloatVector a5 = FloatVector.zero(FLOATS);
            FloatVector b5 = FloatVector.zero(FLOATS);
            FloatVector a6 = FloatVector.zero(FLOATS);
            FloatVector b6 = FloatVector.zero(FLOATS);
            FloatVector a7 = FloatVector.zero(FLOATS);
            FloatVector b7 = FloatVector.zero(FLOATS);
            for (int k = block; k < end; k++) {
                long row = first + (long) k * COLUMNS;
                FloatVector a = (FloatVector) ByteVector.fromMemorySegment(BYTES, panel, row, ORDER)
                        .convertShape(VectorOperators.B2F, FLOATS, 0);
                FloatVector b = (FloatVector) ByteVector.fromMemorySegment(BYTES, panel, row + LANES, ORDER)
                        .convertShape(VectorOperators.B2F, FLOATS, 0);
                FloatVector factor = FloatVector.broadcast(FLOATS, x[at + 8 * k]);
                a0 = a.fma(factor, a0);
                b0 = b.fma(factor, b0);
                factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 1]);
                a1 = a.fma(factor, a1);
                b1 = b.fma(factor, b1);
                factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 2]);
                a2 = a.fma(factor, a2);
                b2 = b.fma(factor, b2);
                factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 3]);
                a3 = a.fma(factor, a3);
                b3 = b.fma(factor, b3);
                factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 4]);
                a4 = a.fma(factor, a4);
                b4 = b.fma(factor, b4);
                factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 5]);
                a5 = a.fma(factor, a5);
                b5 = b.fma(factor, b5);
                factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 6]);
                a6 = a.fma(factor, a6);
                b6 = b.fma(factor, b6);
                factor = FloatVector.broadcast(FLOATS, x[at + 8 * k + 7]);
                a7 = a.fma(factor, a7);
                b7 = b.fma(factor, b7);
            }
            long scale = firstScale + (long) block / DType.BLOCK * (COLUMNS * Float.BYTES);
            FloatVector a = FloatVector.fromMemorySegment(FLOATS, scales, scale, ORDER);
            FloatVector b = FloatVector.fromMemorySegment(FLOATS, scales, scale + VECTOR_BYTES, ORDER);
            a0.fma(a, FloatVector.fromArray(FLOATS, sums, c)).intoArray(sums, c);
            b0.fma(b, FloatVector.fromArray(FLOATS, sums, c + LANES)).intoArray(sums, c + LANES);
            a1.fma(a, FloatVector.fromArray(FLOATS, sums, c + COLUMNS)).intoArray(sums, c + COLUMNS);
            b1.fma(b, FloatVector.fromArray(FLOATS, sums, c + COLUMNS + LANES)).intoArray(sums, c + COLUMNS + LANES);
            a2.fma(a, FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS)).intoArray(sums, c + 2 * COLUMNS);
            b2.fma(b, FloatVector.fromArray(FLOATS, sums, c + 2 * COLUMNS + LANES))
                    .intoArray(sums, c + 2 * COLUMNS + LANES);
            a3.fma(a, FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS)).intoArray(sums, c + 3 * COLUMNS);
            b3.fma(b, FloatVector.fromArray(FLOATS, sums, c + 3 * COLUMNS + LANES))
                    .intoArray(sums, c + 3 * COLUMNS + LANES);
            a4.fma(a, FloatVector.fromArray(FLOATS, sums, c + 4 * COLUMNS)).intoArray(sums, c + 4 * COLUMNS);
            b4.fma(b, FloatVector.fromArray(FLOATS, sums, c + 4 * COLUMNS + LANES))
                    .intoArray(sums, c + 4 * COLUMNS + LANES);
            a5.fma(a, FloatVector.fromArray(FLOATS, sums, c + 5 * COLUMNS)).intoArray(sums, c + 5 * COLUMNS);
            b5.fma(b, FloatVector.fromArray(FLOATS, sums, c + 5 * COLUMNS + LANES))
                    .intoArray(sums, c + 5 * COLUMNS + LANES);
            a6.fma(a, FloatVector.fromArray(FLOATS, sums, c + 6 * COLUMNS)).intoArray(sums, c + 6 * COLUMNS);
            b6.fma(b, FloatVector.fromArray(FLOATS, sums, c + 6 * COLUMNS + LANES))
                    .intoArray(sums, c + 6 * COLUMNS + LANES);
            a7.fma(a, FloatVector.fromArray(FLOATS, sums, c + 7 * COLUMNS)).intoArray(sums, c + 7 * COLUMNS);
            b7.fma(b, FloatVector.fromArray(FLOATS, sums, c + 7 * COLUMNS + LANES))
                    .intoArray(sums, c + 7 * COLUMNS + LANES);
        }
    }
}
