package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The inner loops of products of many rows and a panel of {@link #COLUMNS} columns: the sums of some rows by two vectors stay in
 * registers, and each product is fused into its sum, in order.
 *
 * <p>The loops do nothing else, and none is unrolled: past some number of vector operations the compiler no longer inlines them,
 * and each vector becomes an object on the heap. It loads all factors of a step before the first product, so that a tile has
 * room for as many registers as it has rows besides its sums: more rows, and sums would be kept on the stack.
 */
final class Tiles {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final int LANES = VectorMath.LANES;

    /** Columns of a panel. */
    static final int COLUMNS = WeightLayout.PANEL;

    /** Rows of the lower tile. */
    static final int FEW = 4;

    /** Rows of the higher one, for which there must be {@link #REGISTERS}. */
    private static final int MANY = 8;

    private static final int REGISTERS = 32;

    /** Rows of the highest tile that there are registers for. */
    static final int ROWS = VectorMath.REGISTERS < REGISTERS ? FEW : MANY;

    private Tiles() {}

    /** Rows of the tile that takes the next of {@code rows}: where there are fewer, it has some to spare. */
    static int height(int rows) {
        return rows > FEW ? ROWS : FEW;
    }

    /**
     * {@code sums[r][c] = sum_k x[at + k * height + r] * panel[first + k][c]} for {@code k < depth}, left to right from 0f.
     *
     * @param height of a tile: {@link #height}
     * @param panel {@code [..][COLUMNS]}
     * @param sums {@code [height][COLUMNS]}
     */
    static void multiply(float[] x, int at, int height, float[] panel, int first, int depth, float[] sums) {
        for (int lane = 0; lane < COLUMNS; lane += 2 * LANES) {
            if (height == FEW) {
                multiplyFew(x, at, panel, first * COLUMNS + lane, depth, sums, lane);
            } else {
                multiplyMany(x, at, panel, first * COLUMNS + lane, depth, sums, lane);
            }
        }
    }

    /**
     * {@code into[offset + r * COLUMNS + c] += x[starts[r] + k] * panel[k][c]} for k from {@code first}, in order, for
     * {@link #ROWS} rows.
     */
    static void accumulate(float[] x, int[] starts, float[] panel, int first, int depth, float[] into, int offset) {
        for (int lane = 0; lane < COLUMNS; lane += 2 * LANES) {
            if (ROWS == FEW) {
                accumulateFew(x, starts, first, panel, lane, depth, into, offset + lane);
            } else {
                accumulateMany(x, starts, first, panel, lane, depth, into, offset + lane);
            }
        }
    }

    private static void multiplyFew(float[] x, int at, float[] panel, int from, int depth, float[] sums, int lane) {
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
        a0.intoArray(sums, lane);
        b0.intoArray(sums, lane + LANES);
        a1.intoArray(sums, lane + COLUMNS);
        b1.intoArray(sums, lane + COLUMNS + LANES);
        a2.intoArray(sums, lane + 2 * COLUMNS);
        b2.intoArray(sums, lane + 2 * COLUMNS + LANES);
        a3.intoArray(sums, lane + 3 * COLUMNS);
        b3.intoArray(sums, lane + 3 * COLUMNS + LANES);
    }

    private static void multiplyMany(float[] x, int at, float[] panel, int from, int depth, float[] sums, int lane) {
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
        a0.intoArray(sums, lane);
        b0.intoArray(sums, lane + LANES);
        a1.intoArray(sums, lane + COLUMNS);
        b1.intoArray(sums, lane + COLUMNS + LANES);
        a2.intoArray(sums, lane + 2 * COLUMNS);
        b2.intoArray(sums, lane + 2 * COLUMNS + LANES);
        a3.intoArray(sums, lane + 3 * COLUMNS);
        b3.intoArray(sums, lane + 3 * COLUMNS + LANES);
        a4.intoArray(sums, lane + 4 * COLUMNS);
        b4.intoArray(sums, lane + 4 * COLUMNS + LANES);
        a5.intoArray(sums, lane + 5 * COLUMNS);
        b5.intoArray(sums, lane + 5 * COLUMNS + LANES);
        a6.intoArray(sums, lane + 6 * COLUMNS);
        b6.intoArray(sums, lane + 6 * COLUMNS + LANES);
        a7.intoArray(sums, lane + 7 * COLUMNS);
        b7.intoArray(sums, lane + 7 * COLUMNS + LANES);
    }

    private static void accumulateFew(
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

    private static void accumulateMany(
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
