package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.invoke.VarHandle;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The inner loops of products of many rows and a panel of {@link #COLUMNS} columns: the sums of some rows by two vectors stay in
 * registers, and each product is fused into its sum, in order.
 *
 * <p>The loops do nothing else, and none is unrolled: past some number of vector operations the compiler no longer inlines them,
 * and each vector becomes an object on the heap. It loads all factors of a step before the first product, so that a tile has
 * room for as many registers as it has rows besides its sums: more rows, and sums would be kept on the stack. Where there are
 * 16 registers that is four rows, eight sums, just as many as two units have under way; the fences of the tile of six hold each
 * load behind those before it, and are no instructions on a processor of that kind.
 */
final class Tiles {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final int LANES = VectorMath.LANES;

    /** Columns of a panel. */
    static final int COLUMNS = WeightLayout.PANEL;

    /** Rows of a block that has a scale; the loops over one are faster for knowing how long they are. */
    static final int BLOCK = DType.BLOCK;

    /** Rows of the lowest tile. */
    static final int LOW = 4;

    /** Rows of the tile with fences, for {@link VectorMath#REGISTERS} of 16. */
    private static final int MIDDLE = 6;

    /** Rows of the highest tile, for 32. */
    private static final int HIGH = 8;

    private static final boolean HAS_HIGH = VectorMath.REGISTERS == 32;

    /** Rows of the highest tile without fences that there are registers for. */
    static final int ROWS = HAS_HIGH ? HIGH : LOW;

    private Tiles() {}

    /**
     * Whether to copy a panel for so many rows, whatever the type of its elements, as {@link #multiply} has higher tiles. Loads from
     * memory that is not an array look behind each fence whether it is still there.
     */
    static boolean copies(int rows) {
        return !HAS_HIGH && rows > 2 * LOW;
    }

    /** Rows of the tile that takes the next of {@code left} of {@code rows}: where there are fewer, it has some to spare. */
    static int height(int left, int rows) {
        if (left <= LOW) {
            return LOW;
        }
        if (HAS_HIGH) {
            return HIGH;
        }
        boolean twoAreLower = left > MIDDLE && left <= 2 * LOW;
        return copies(rows) && !twoAreLower ? MIDDLE : LOW;
    }

    /**
     * {@code into[to + r * COLUMNS + c] += sum_k x[at + k * height + r] * panel[(first + k) * COLUMNS + c]} for {@code k < depth}; the sum is left
     * to right from 0f.
     *
     * @param height of a tile: {@link #height}
     * @param panel {@code [depth][COLUMNS]}
     */
    static void multiply(float[] x, int at, int height, float[] panel, int first, int depth, float[] into, int to) {
        for (int c = 0; c < COLUMNS; c += 2 * LANES) {
            int from = first * COLUMNS + c;
            switch (height) {
                case LOW -> multiplyLow(x, at, panel, from, depth, into, to + c);
                case MIDDLE -> multiplyMiddle(x, at, panel, from, depth, into, to + c);
                default -> multiplyHigh(x, at, panel, from, depth, into, to + c);
            }
        }
    }

    /**
     * {@code into[to + r * COLUMNS + c] += scales[scale + c] * sum_k x[at + k * height + r] * panel[(first + k) * COLUMNS + c]} for
     * {@code k < } {@link #BLOCK}, the product fused; the sum is left to right from 0f.
     *
     * @param height of a tile: {@link #height}
     */
    static void multiplyBlock(
            float[] x, int at, int height, float[] panel, int first, float[] scales, int scale, float[] into, int to) {
        for (int c = 0; c < COLUMNS; c += 2 * LANES) {
            int from = first * COLUMNS + c;
            switch (height) {
                case LOW -> blockLow(x, at, panel, from, scales, scale + c, into, to + c);
                case MIDDLE -> blockMiddle(x, at, panel, from, scales, scale + c, into, to + c);
                default -> blockHigh(x, at, panel, from, scales, scale + c, into, to + c);
            }
        }
    }

    /**
     * {@code into[offset + r * COLUMNS + c] += x[starts[r] + k] * panel[k][c]} for k from {@code first}, in order, for
     * {@link #ROWS} rows.
     */
    static void accumulate(float[] x, int[] starts, float[] panel, int first, int depth, float[] into, int offset) {
        for (int lane = 0; lane < COLUMNS; lane += 2 * LANES) {
            if (HAS_HIGH) {
                accumulateHigh(x, starts, first, panel, lane, depth, into, offset + lane);
            } else {
                accumulateLow(x, starts, first, panel, lane, depth, into, offset + lane);
            }
        }
    }

    private static void multiplyLow(float[] x, int at, float[] panel, int from, int depth, float[] into, int to) {
        FloatVector a0 = FloatVector.zero(FLOATS);
        FloatVector b0 = FloatVector.zero(FLOATS);
        FloatVector a1 = FloatVector.zero(FLOATS);
        FloatVector b1 = FloatVector.zero(FLOATS);
        FloatVector a2 = FloatVector.zero(FLOATS);
        FloatVector b2 = FloatVector.zero(FLOATS);
        FloatVector a3 = FloatVector.zero(FLOATS);
        FloatVector b3 = FloatVector.zero(FLOATS);
        for (int k = 0; k < depth; k++) {
            FloatVector a = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS);
            FloatVector b = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS + LANES);
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
        a0.add(FloatVector.fromArray(FLOATS, into, to)).intoArray(into, to);
        b0.add(FloatVector.fromArray(FLOATS, into, to + LANES)).intoArray(into, to + LANES);
        a1.add(FloatVector.fromArray(FLOATS, into, to + COLUMNS)).intoArray(into, to + COLUMNS);
        b1.add(FloatVector.fromArray(FLOATS, into, to + COLUMNS + LANES)).intoArray(into, to + COLUMNS + LANES);
        a2.add(FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS)).intoArray(into, to + 2 * COLUMNS);
        b2.add(FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS + LANES)).intoArray(into, to + 2 * COLUMNS + LANES);
        a3.add(FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS)).intoArray(into, to + 3 * COLUMNS);
        b3.add(FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS + LANES)).intoArray(into, to + 3 * COLUMNS + LANES);
    }

    private static void multiplyMiddle(float[] x, int at, float[] panel, int from, int depth, float[] into, int to) {
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
        for (int k = 0; k < depth; k++) {
            FloatVector a = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS);
            FloatVector b = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS + LANES);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[at + 6 * k]);
            a0 = a.fma(factor, a0);
            b0 = b.fma(factor, b0);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 1]);
            a1 = a.fma(factor, a1);
            b1 = b.fma(factor, b1);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 2]);
            a2 = a.fma(factor, a2);
            b2 = b.fma(factor, b2);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 3]);
            a3 = a.fma(factor, a3);
            b3 = b.fma(factor, b3);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 4]);
            a4 = a.fma(factor, a4);
            b4 = b.fma(factor, b4);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 5]);
            a5 = a.fma(factor, a5);
            b5 = b.fma(factor, b5);
        }
        a0.add(FloatVector.fromArray(FLOATS, into, to)).intoArray(into, to);
        b0.add(FloatVector.fromArray(FLOATS, into, to + LANES)).intoArray(into, to + LANES);
        a1.add(FloatVector.fromArray(FLOATS, into, to + COLUMNS)).intoArray(into, to + COLUMNS);
        b1.add(FloatVector.fromArray(FLOATS, into, to + COLUMNS + LANES)).intoArray(into, to + COLUMNS + LANES);
        a2.add(FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS)).intoArray(into, to + 2 * COLUMNS);
        b2.add(FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS + LANES)).intoArray(into, to + 2 * COLUMNS + LANES);
        a3.add(FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS)).intoArray(into, to + 3 * COLUMNS);
        b3.add(FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS + LANES)).intoArray(into, to + 3 * COLUMNS + LANES);
        a4.add(FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS)).intoArray(into, to + 4 * COLUMNS);
        b4.add(FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS + LANES)).intoArray(into, to + 4 * COLUMNS + LANES);
        a5.add(FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS)).intoArray(into, to + 5 * COLUMNS);
        b5.add(FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS + LANES)).intoArray(into, to + 5 * COLUMNS + LANES);
    }

    private static void multiplyHigh(float[] x, int at, float[] panel, int from, int depth, float[] into, int to) {
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
        for (int k = 0; k < depth; k++) {
            FloatVector a = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS);
            FloatVector b = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS + LANES);
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
        a0.add(FloatVector.fromArray(FLOATS, into, to)).intoArray(into, to);
        b0.add(FloatVector.fromArray(FLOATS, into, to + LANES)).intoArray(into, to + LANES);
        a1.add(FloatVector.fromArray(FLOATS, into, to + COLUMNS)).intoArray(into, to + COLUMNS);
        b1.add(FloatVector.fromArray(FLOATS, into, to + COLUMNS + LANES)).intoArray(into, to + COLUMNS + LANES);
        a2.add(FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS)).intoArray(into, to + 2 * COLUMNS);
        b2.add(FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS + LANES)).intoArray(into, to + 2 * COLUMNS + LANES);
        a3.add(FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS)).intoArray(into, to + 3 * COLUMNS);
        b3.add(FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS + LANES)).intoArray(into, to + 3 * COLUMNS + LANES);
        a4.add(FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS)).intoArray(into, to + 4 * COLUMNS);
        b4.add(FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS + LANES)).intoArray(into, to + 4 * COLUMNS + LANES);
        a5.add(FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS)).intoArray(into, to + 5 * COLUMNS);
        b5.add(FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS + LANES)).intoArray(into, to + 5 * COLUMNS + LANES);
        a6.add(FloatVector.fromArray(FLOATS, into, to + 6 * COLUMNS)).intoArray(into, to + 6 * COLUMNS);
        b6.add(FloatVector.fromArray(FLOATS, into, to + 6 * COLUMNS + LANES)).intoArray(into, to + 6 * COLUMNS + LANES);
        a7.add(FloatVector.fromArray(FLOATS, into, to + 7 * COLUMNS)).intoArray(into, to + 7 * COLUMNS);
        b7.add(FloatVector.fromArray(FLOATS, into, to + 7 * COLUMNS + LANES)).intoArray(into, to + 7 * COLUMNS + LANES);
    }

    private static void blockLow(
            float[] x, int at, float[] panel, int from, float[] scales, int scale, float[] into, int to) {
        FloatVector a0 = FloatVector.zero(FLOATS);
        FloatVector b0 = FloatVector.zero(FLOATS);
        FloatVector a1 = FloatVector.zero(FLOATS);
        FloatVector b1 = FloatVector.zero(FLOATS);
        FloatVector a2 = FloatVector.zero(FLOATS);
        FloatVector b2 = FloatVector.zero(FLOATS);
        FloatVector a3 = FloatVector.zero(FLOATS);
        FloatVector b3 = FloatVector.zero(FLOATS);
        for (int k = 0; k < BLOCK; k++) {
            FloatVector a = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS);
            FloatVector b = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS + LANES);
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
        FloatVector a = FloatVector.fromArray(FLOATS, scales, scale);
        FloatVector b = FloatVector.fromArray(FLOATS, scales, scale + LANES);
        a0.fma(a, FloatVector.fromArray(FLOATS, into, to)).intoArray(into, to);
        b0.fma(b, FloatVector.fromArray(FLOATS, into, to + LANES)).intoArray(into, to + LANES);
        a1.fma(a, FloatVector.fromArray(FLOATS, into, to + COLUMNS)).intoArray(into, to + COLUMNS);
        b1.fma(b, FloatVector.fromArray(FLOATS, into, to + COLUMNS + LANES)).intoArray(into, to + COLUMNS + LANES);
        a2.fma(a, FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS)).intoArray(into, to + 2 * COLUMNS);
        b2.fma(b, FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS + LANES))
                .intoArray(into, to + 2 * COLUMNS + LANES);
        a3.fma(a, FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS)).intoArray(into, to + 3 * COLUMNS);
        b3.fma(b, FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS + LANES))
                .intoArray(into, to + 3 * COLUMNS + LANES);
    }

    private static void blockMiddle(
            float[] x, int at, float[] panel, int from, float[] scales, int scale, float[] into, int to) {
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
        for (int k = 0; k < BLOCK; k++) {
            FloatVector a = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS);
            FloatVector b = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS + LANES);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[at + 6 * k]);
            a0 = a.fma(factor, a0);
            b0 = b.fma(factor, b0);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 1]);
            a1 = a.fma(factor, a1);
            b1 = b.fma(factor, b1);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 2]);
            a2 = a.fma(factor, a2);
            b2 = b.fma(factor, b2);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 3]);
            a3 = a.fma(factor, a3);
            b3 = b.fma(factor, b3);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 4]);
            a4 = a.fma(factor, a4);
            b4 = b.fma(factor, b4);
            VarHandle.loadLoadFence();
            factor = FloatVector.broadcast(FLOATS, x[at + 6 * k + 5]);
            a5 = a.fma(factor, a5);
            b5 = b.fma(factor, b5);
        }
        FloatVector a = FloatVector.fromArray(FLOATS, scales, scale);
        FloatVector b = FloatVector.fromArray(FLOATS, scales, scale + LANES);
        a0.fma(a, FloatVector.fromArray(FLOATS, into, to)).intoArray(into, to);
        b0.fma(b, FloatVector.fromArray(FLOATS, into, to + LANES)).intoArray(into, to + LANES);
        a1.fma(a, FloatVector.fromArray(FLOATS, into, to + COLUMNS)).intoArray(into, to + COLUMNS);
        b1.fma(b, FloatVector.fromArray(FLOATS, into, to + COLUMNS + LANES)).intoArray(into, to + COLUMNS + LANES);
        a2.fma(a, FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS)).intoArray(into, to + 2 * COLUMNS);
        b2.fma(b, FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS + LANES))
                .intoArray(into, to + 2 * COLUMNS + LANES);
        a3.fma(a, FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS)).intoArray(into, to + 3 * COLUMNS);
        b3.fma(b, FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS + LANES))
                .intoArray(into, to + 3 * COLUMNS + LANES);
        a4.fma(a, FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS)).intoArray(into, to + 4 * COLUMNS);
        b4.fma(b, FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS + LANES))
                .intoArray(into, to + 4 * COLUMNS + LANES);
        a5.fma(a, FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS)).intoArray(into, to + 5 * COLUMNS);
        b5.fma(b, FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS + LANES))
                .intoArray(into, to + 5 * COLUMNS + LANES);
    }

    private static void blockHigh(
            float[] x, int at, float[] panel, int from, float[] scales, int scale, float[] into, int to) {
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
        for (int k = 0; k < BLOCK; k++) {
            FloatVector a = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS);
            FloatVector b = FloatVector.fromArray(FLOATS, panel, from + k * COLUMNS + LANES);
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
        FloatVector a = FloatVector.fromArray(FLOATS, scales, scale);
        FloatVector b = FloatVector.fromArray(FLOATS, scales, scale + LANES);
        a0.fma(a, FloatVector.fromArray(FLOATS, into, to)).intoArray(into, to);
        b0.fma(b, FloatVector.fromArray(FLOATS, into, to + LANES)).intoArray(into, to + LANES);
        a1.fma(a, FloatVector.fromArray(FLOATS, into, to + COLUMNS)).intoArray(into, to + COLUMNS);
        b1.fma(b, FloatVector.fromArray(FLOATS, into, to + COLUMNS + LANES)).intoArray(into, to + COLUMNS + LANES);
        a2.fma(a, FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS)).intoArray(into, to + 2 * COLUMNS);
        b2.fma(b, FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS + LANES))
                .intoArray(into, to + 2 * COLUMNS + LANES);
        a3.fma(a, FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS)).intoArray(into, to + 3 * COLUMNS);
        b3.fma(b, FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS + LANES))
                .intoArray(into, to + 3 * COLUMNS + LANES);
        a4.fma(a, FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS)).intoArray(into, to + 4 * COLUMNS);
        b4.fma(b, FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS + LANES))
                .intoArray(into, to + 4 * COLUMNS + LANES);
        a5.fma(a, FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS)).intoArray(into, to + 5 * COLUMNS);
        b5.fma(b, FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS + LANES))
                .intoArray(into, to + 5 * COLUMNS + LANES);
        a6.fma(a, FloatVector.fromArray(FLOATS, into, to + 6 * COLUMNS)).intoArray(into, to + 6 * COLUMNS);
        b6.fma(b, FloatVector.fromArray(FLOATS, into, to + 6 * COLUMNS + LANES))
                .intoArray(into, to + 6 * COLUMNS + LANES);
        a7.fma(a, FloatVector.fromArray(FLOATS, into, to + 7 * COLUMNS)).intoArray(into, to + 7 * COLUMNS);
        b7.fma(b, FloatVector.fromArray(FLOATS, into, to + 7 * COLUMNS + LANES))
                .intoArray(into, to + 7 * COLUMNS + LANES);
    }

    private static void accumulateLow(
            float[] x, int[] starts, int first, float[] panel, int lane, int depth, float[] into, int to) {
        int x0 = starts[0] + first;
        int x1 = starts[1] + first;
        int x2 = starts[2] + first;
        int x3 = starts[3] + first;
        FloatVector a0 = FloatVector.fromArray(FLOATS, into, to);
        FloatVector b0 = FloatVector.fromArray(FLOATS, into, to + LANES);
        FloatVector a1 = FloatVector.fromArray(FLOATS, into, to + COLUMNS);
        FloatVector b1 = FloatVector.fromArray(FLOATS, into, to + COLUMNS + LANES);
        FloatVector a2 = FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS);
        FloatVector b2 = FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS + LANES);
        FloatVector a3 = FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS);
        FloatVector b3 = FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS + LANES);
        for (int k = 0; k < depth; k++) {
            FloatVector a = FloatVector.fromArray(FLOATS, panel, (first + k) * COLUMNS + lane);
            FloatVector b = FloatVector.fromArray(FLOATS, panel, (first + k) * COLUMNS + lane + LANES);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[x0 + k]);
            a0 = a.fma(factor, a0);
            b0 = b.fma(factor, b0);
            factor = FloatVector.broadcast(FLOATS, x[x1 + k]);
            a1 = a.fma(factor, a1);
            b1 = b.fma(factor, b1);
            factor = FloatVector.broadcast(FLOATS, x[x2 + k]);
            a2 = a.fma(factor, a2);
            b2 = b.fma(factor, b2);
            factor = FloatVector.broadcast(FLOATS, x[x3 + k]);
            a3 = a.fma(factor, a3);
            b3 = b.fma(factor, b3);
        }
        a0.intoArray(into, to);
        b0.intoArray(into, to + LANES);
        a1.intoArray(into, to + COLUMNS);
        b1.intoArray(into, to + COLUMNS + LANES);
        a2.intoArray(into, to + 2 * COLUMNS);
        b2.intoArray(into, to + 2 * COLUMNS + LANES);
        a3.intoArray(into, to + 3 * COLUMNS);
        b3.intoArray(into, to + 3 * COLUMNS + LANES);
    }

    private static void accumulateHigh(
            float[] x, int[] starts, int first, float[] panel, int lane, int depth, float[] into, int to) {
        int x0 = starts[0] + first;
        int x1 = starts[1] + first;
        int x2 = starts[2] + first;
        int x3 = starts[3] + first;
        int x4 = starts[4] + first;
        int x5 = starts[5] + first;
        int x6 = starts[6] + first;
        int x7 = starts[7] + first;
        FloatVector a0 = FloatVector.fromArray(FLOATS, into, to);
        FloatVector b0 = FloatVector.fromArray(FLOATS, into, to + LANES);
        FloatVector a1 = FloatVector.fromArray(FLOATS, into, to + COLUMNS);
        FloatVector b1 = FloatVector.fromArray(FLOATS, into, to + COLUMNS + LANES);
        FloatVector a2 = FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS);
        FloatVector b2 = FloatVector.fromArray(FLOATS, into, to + 2 * COLUMNS + LANES);
        FloatVector a3 = FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS);
        FloatVector b3 = FloatVector.fromArray(FLOATS, into, to + 3 * COLUMNS + LANES);
        FloatVector a4 = FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS);
        FloatVector b4 = FloatVector.fromArray(FLOATS, into, to + 4 * COLUMNS + LANES);
        FloatVector a5 = FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS);
        FloatVector b5 = FloatVector.fromArray(FLOATS, into, to + 5 * COLUMNS + LANES);
        FloatVector a6 = FloatVector.fromArray(FLOATS, into, to + 6 * COLUMNS);
        FloatVector b6 = FloatVector.fromArray(FLOATS, into, to + 6 * COLUMNS + LANES);
        FloatVector a7 = FloatVector.fromArray(FLOATS, into, to + 7 * COLUMNS);
        FloatVector b7 = FloatVector.fromArray(FLOATS, into, to + 7 * COLUMNS + LANES);
        for (int k = 0; k < depth; k++) {
            FloatVector a = FloatVector.fromArray(FLOATS, panel, (first + k) * COLUMNS + lane);
            FloatVector b = FloatVector.fromArray(FLOATS, panel, (first + k) * COLUMNS + lane + LANES);
            FloatVector factor = FloatVector.broadcast(FLOATS, x[x0 + k]);
            a0 = a.fma(factor, a0);
            b0 = b.fma(factor, b0);
            factor = FloatVector.broadcast(FLOATS, x[x1 + k]);
            a1 = a.fma(factor, a1);
            b1 = b.fma(factor, b1);
            factor = FloatVector.broadcast(FLOATS, x[x2 + k]);
            a2 = a.fma(factor, a2);
            b2 = b.fma(factor, b2);
            factor = FloatVector.broadcast(FLOATS, x[x3 + k]);
            a3 = a.fma(factor, a3);
            b3 = b.fma(factor, b3);
            factor = FloatVector.broadcast(FLOATS, x[x4 + k]);
            a4 = a.fma(factor, a4);
            b4 = b.fma(factor, b4);
            factor = FloatVector.broadcast(FLOATS, x[x5 + k]);
            a5 = a.fma(factor, a5);
            b5 = b.fma(factor, b5);
            factor = FloatVector.broadcast(FLOATS, x[x6 + k]);
            a6 = a.fma(factor, a6);
            b6 = b.fma(factor, b6);
            factor = FloatVector.broadcast(FLOATS, x[x7 + k]);
            a7 = a.fma(factor, a7);
            b7 = b.fma(factor, b7);
        }
        a0.intoArray(into, to);
        b0.intoArray(into, to + LANES);
        a1.intoArray(into, to + COLUMNS);
        b1.intoArray(into, to + COLUMNS + LANES);
        a2.intoArray(into, to + 2 * COLUMNS);
        b2.intoArray(into, to + 2 * COLUMNS + LANES);
        a3.intoArray(into, to + 3 * COLUMNS);
        b3.intoArray(into, to + 3 * COLUMNS + LANES);
        a4.intoArray(into, to + 4 * COLUMNS);
        b4.intoArray(into, to + 4 * COLUMNS + LANES);
        a5.intoArray(into, to + 5 * COLUMNS);
        b5.intoArray(into, to + 5 * COLUMNS + LANES);
        a6.intoArray(into, to + 6 * COLUMNS);
        b6.intoArray(into, to + 6 * COLUMNS + LANES);
        a7.intoArray(into, to + 7 * COLUMNS);
        b7.intoArray(into, to + 7 * COLUMNS + LANES);
    }
}
