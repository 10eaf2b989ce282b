package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The slice sums of {@link LinearKernels} for several rows: a work item multiplies each weight it loads with
 * {@value #TILE_ROWS} rows, and each input with {@value #TILE_COLUMNS} columns, in registers.
 */
public final class LinearTileKernels {
    /** Rows of a tile. */
    public static final int TILE_ROWS = 4;

    private static final int TILE_COLUMNS = 4;

    /** Neighbouring work items own neighbouring columns; a work item's columns lie this far apart. */
    private static final int LANES = 32;

    private LinearTileKernels() {}

    /** Work items of {@link #tileSums}, whose parallel index has three parts: tile of rows, slice, lane. */
    public static int tileSumsItems(int rows, int inputs, int columns) {
        return rowTiles(rows) * Slices.count(inputs) * lanes(columns);
    }

    private static int rowTiles(int rows) {
        return (rows + TILE_ROWS - 1) / TILE_ROWS;
    }

    private static int lanes(int columns) {
        return (columns + TILE_COLUMNS * LANES - 1) / (TILE_COLUMNS * LANES) * LANES;
    }

    /**
     * sums[r][s][c] = sum over slice s of x[r][k] * w[layer][k][c].
     *
     * <p>Shapes: x [rows][inputs]; sums [rows][slices][columns].
     *
     * <p>Order: tiles of 4 x 4 (r, c) and s parallel, neighbours in c contiguous; k as in {@link LinearKernels#sliceSums}. Eight loads serve
     * sixteen products. Rows and columns behind the last are computed from clamped indices and not stored.
     */
    public static void tileSums(
            FloatArray x,
            FloatArray floats,
            IntArray words,
            FloatArray scales,
            FloatArray powers,
            IntArray layer,
            IntArray step,
            FloatArray sums,
            int format,
            int rows,
            int inputs,
            int columns) {
        for (@Parallel int i = 0; i < rowTiles(rows) * Slices.count(inputs) * lanes(columns); i++) {
            int lane = i % lanes(columns);
            int slice = i / lanes(columns) % Slices.count(inputs);
            int row = i / lanes(columns) / Slices.count(inputs) * TILE_ROWS;
            int live = step.get(Step.ROWS);
            if (row < live) {
                int x0 = row * inputs;
                int x1 = Math.min(row + 1, rows - 1) * inputs;
                int x2 = Math.min(row + 2, rows - 1) * inputs;
                int x3 = Math.min(row + 3, rows - 1) * inputs;
                int column = lane / LANES * (TILE_COLUMNS * LANES) + lane % LANES;
                int c0 = Math.min(column, columns - 1);
                int c1 = Math.min(column + LANES, columns - 1);
                int c2 = Math.min(column + 2 * LANES, columns - 1);
                int c3 = Math.min(column + 3 * LANES, columns - 1);
                int weight = layer.get(0) * inputs * columns;
                int firstBlock = layer.get(0) * WeightFormat.blocks(inputs);
                int end = Math.min((slice + 1) * Slices.SIZE, inputs);
                int block = WeightFormat.block(format);
                float s00 = 0f, s01 = 0f, s02 = 0f, s03 = 0f;
                float s10 = 0f, s11 = 0f, s12 = 0f, s13 = 0f;
                float s20 = 0f, s21 = 0f, s22 = 0f, s23 = 0f;
                float s30 = 0f, s31 = 0f, s32 = 0f, s33 = 0f;
                for (int first = slice * Slices.SIZE; first < end; first += block) {
                    float p00 = 0f, p01 = 0f, p02 = 0f, p03 = 0f;
                    float p10 = 0f, p11 = 0f, p12 = 0f, p13 = 0f;
                    float p20 = 0f, p21 = 0f, p22 = 0f, p23 = 0f;
                    float p30 = 0f, p31 = 0f, p32 = 0f, p33 = 0f;
                    for (int k = first; k < Math.min(first + block, end); k++) {
                        int from = weight + k * columns;
                        float w0 = WeightFormat.element(format, floats, words, powers, from + c0);
                        float w1 = WeightFormat.element(format, floats, words, powers, from + c1);
                        float w2 = WeightFormat.element(format, floats, words, powers, from + c2);
                        float w3 = WeightFormat.element(format, floats, words, powers, from + c3);
                        float a0 = x.get(x0 + k);
                        float a1 = x.get(x1 + k);
                        float a2 = x.get(x2 + k);
                        float a3 = x.get(x3 + k);
                        p00 = Fused.fma(a0, w0, p00);
                        p01 = Fused.fma(a0, w1, p01);
                        p02 = Fused.fma(a0, w2, p02);
                        p03 = Fused.fma(a0, w3, p03);
                        p10 = Fused.fma(a1, w0, p10);
                        p11 = Fused.fma(a1, w1, p11);
                        p12 = Fused.fma(a1, w2, p12);
                        p13 = Fused.fma(a1, w3, p13);
                        p20 = Fused.fma(a2, w0, p20);
                        p21 = Fused.fma(a2, w1, p21);
                        p22 = Fused.fma(a2, w2, p22);
                        p23 = Fused.fma(a2, w3, p23);
                        p30 = Fused.fma(a3, w0, p30);
                        p31 = Fused.fma(a3, w1, p31);
                        p32 = Fused.fma(a3, w2, p32);
                        p33 = Fused.fma(a3, w3, p33);
                    }
                    float scale0 = WeightFormat.scale(format, scales, firstBlock, first, columns, c0);
                    float scale1 = WeightFormat.scale(format, scales, firstBlock, first, columns, c1);
                    float scale2 = WeightFormat.scale(format, scales, firstBlock, first, columns, c2);
                    float scale3 = WeightFormat.scale(format, scales, firstBlock, first, columns, c3);
                    s00 = Fused.fma(p00, scale0, s00);
                    s01 = Fused.fma(p01, scale1, s01);
                    s02 = Fused.fma(p02, scale2, s02);
                    s03 = Fused.fma(p03, scale3, s03);
                    s10 = Fused.fma(p10, scale0, s10);
                    s11 = Fused.fma(p11, scale1, s11);
                    s12 = Fused.fma(p12, scale2, s12);
                    s13 = Fused.fma(p13, scale3, s13);
                    s20 = Fused.fma(p20, scale0, s20);
                    s21 = Fused.fma(p21, scale1, s21);
                    s22 = Fused.fma(p22, scale2, s22);
                    s23 = Fused.fma(p23, scale3, s23);
                    s30 = Fused.fma(p30, scale0, s30);
                    s31 = Fused.fma(p31, scale1, s31);
                    s32 = Fused.fma(p32, scale2, s32);
                    s33 = Fused.fma(p33, scale3, s33);
                }
                int out = (row * Slices.count(inputs) + slice) * columns + column;
                int next = Slices.count(inputs) * columns;
                storeRow(sums, out, column, columns, s00, s01, s02, s03);
                if (row + 1 < live) {
                    storeRow(sums, out + next, column, columns, s10, s11, s12, s13);
                }
                if (row + 2 < live) {
                    storeRow(sums, out + 2 * next, column, columns, s20, s21, s22, s23);
                }
                if (row + 3 < live) {
                    storeRow(sums, out + 3 * next, column, columns, s30, s31, s32, s33);
                }
            }
        }
    }

    /** Work items of {@link #tileProducts}, whose parallel index has two parts: tile of rows, column. */
    public static int tileProductsItems(int rows, int columns) {
        return rowTiles(rows) * columns;
    }

    /**
     * out[r][c] = sum_k x[r][k] * w[layer][k][c], the whole sum in one work item: no memory for slices, which matters where
     * all rows are multiplied with a head of many columns.
     *
     * <p>Shapes: x [rows][inputs]; weight [layers][inputs][columns], float32; out [rows][columns].
     *
     * <p>Order: tiles of 4 x 1 (r, c) parallel, c contiguous; the sum over k is sliced. Rows behind the last are computed from
     * clamped indices and not stored.
     */
    public static void tileProducts(
            FloatArray x,
            FloatArray weight,
            IntArray layer,
            IntArray step,
            FloatArray out,
            int rows,
            int inputs,
            int columns) {
        for (@Parallel int i = 0; i < rowTiles(rows) * columns; i++) {
            int row = i / columns * TILE_ROWS;
            int live = step.get(Step.ROWS);
            if (row < live) {
                int x0 = row * inputs;
                int x1 = Math.min(row + 1, rows - 1) * inputs;
                int x2 = Math.min(row + 2, rows - 1) * inputs;
                int x3 = Math.min(row + 3, rows - 1) * inputs;
                int column = i % columns;
                int first = layer.get(0) * inputs * columns + column;
                float s0 = 0f;
                float s1 = 0f;
                float s2 = 0f;
                float s3 = 0f;
                for (int start = 0; start < inputs; start += Slices.SIZE) {
                    float p0 = 0f;
                    float p1 = 0f;
                    float p2 = 0f;
                    float p3 = 0f;
                    for (int k = start; k < Math.min(start + Slices.SIZE, inputs); k++) {
                        float w = weight.get(first + k * columns);
                        p0 = Fused.fma(x.get(x0 + k), w, p0);
                        p1 = Fused.fma(x.get(x1 + k), w, p1);
                        p2 = Fused.fma(x.get(x2 + k), w, p2);
                        p3 = Fused.fma(x.get(x3 + k), w, p3);
                    }
                    s0 += p0;
                    s1 += p1;
                    s2 += p2;
                    s3 += p3;
                }
                int of = row * columns + column;
                out.set(of, s0);
                if (row + 1 < live) {
                    out.set(of + columns, s1);
                }
                if (row + 2 < live) {
                    out.set(of + 2 * columns, s2);
                }
                if (row + 3 < live) {
                    out.set(of + 3 * columns, s3);
                }
            }
        }
    }

    private static void storeRow(
            FloatArray sums, int first, int column, int columns, float s0, float s1, float s2, float s3) {
        if (column < columns) {
            sums.set(first, s0);
        }
        if (column + LANES < columns) {
            sums.set(first + LANES, s1);
        }
        if (column + 2 * LANES < columns) {
            sums.set(first + 2 * LANES, s2);
        }
        if (column + 3 * LANES < columns) {
            sums.set(first + 3 * LANES, s3);
        }
    }
}
