package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * Products with matrices whose tensors are kept as they are stored, in formats of their own, and embeddings of such. A task works on
 * neighbouring columns of one {@link StoredFormat}, {@code columns} of them from {@code firstColumn}, of the {@code width} that the matrix
 * has.
 *
 * <p>Of blocks a slice adds the sum of a block's products times its scale, and then, where blocks have minima, the sum of its inputs times
 * its minimum, both fused.
 *
 * <p>Source: {@code ggml-common.h} of github.com/ggml-org/llama.cpp, for what the integers mean.
 */
public final class StoredKernels {
    /** Rows of a tile. */
    private static final int TILE_ROWS = 8;

    private StoredKernels() {}

    /**
     * sums[s][firstColumn + c] = sum over slice s of x[k] * w[layer][k][c].
     *
     * <p>Shapes: x [inputs]; sums [slices][width].
     *
     * <p>Order: s and c parallel, c contiguous; k left to right within blocks, blocks left to right.
     */
    public static void sliceSums(
            FloatArray x,
            FloatArray floats,
            IntArray words,
            FloatArray powers,
            IntArray places,
            IntArray layer,
            FloatArray sums,
            int format,
            int inputs,
            int firstColumn,
            int columns,
            int width) {
        for (@Parallel int i = 0; i < Slices.count(inputs) * columns; i++) {
            int slice = i / columns;
            int column = i - slice * columns;
            int firstWord = places.get(2 * layer.get(0));
            int firstFloat = places.get(2 * layer.get(0) + 1);
            int end = Math.min((slice + 1) * Slices.SIZE, inputs);
            int block = StoredFormat.block(format);
            float sum = 0f;
            for (int first = slice * Slices.SIZE; first < end; first += block) {
                float part = 0f;
                float all = 0f;
                for (int k = first; k < Math.min(first + block, end); k++) {
                    float w = StoredFormat.element(
                            format, floats, words, powers, firstWord, firstFloat, inputs, columns, k, column);
                    part = Fused.fma(x.get(k), w, part);
                    all += x.get(k);
                }
                float scale = StoredFormat.scale(
                        format, floats, words, firstWord, firstFloat, inputs, columns, first, column);
                sum = Fused.fma(part, scale, sum);
                if (StoredFormat.hasMinimum(format)) {
                    float minimum = StoredFormat.minimum(
                            format, floats, words, firstWord, firstFloat, inputs, columns, first, column);
                    sum = Fused.fma(all, minimum, sum);
                }
            }
            sums.set(slice * width + firstColumn + column, sum);
        }
    }

    /** Work items of {@link #tileSums}, whose parallel index has three parts: tile of rows, slice, column. */
    public static int tileSumsItems(int rows, int inputs, int columns) {
        return rowTiles(rows) * Slices.count(inputs) * columns;
    }

    private static int rowTiles(int rows) {
        return (rows + TILE_ROWS - 1) / TILE_ROWS;
    }

    /**
     * sums[r][s][firstColumn + c] = sum over slice s of x[r][k] * w[layer][k][c], for several rows: a work item multiplies each weight that
     * it takes out of a word with {@value #TILE_ROWS} rows.
     *
     * <p>Shapes: x [rows][inputs]; sums [rows][slices][width].
     *
     * <p>Order: tiles of 8 x 1 (r, c) and s parallel, c contiguous; k as in {@link #sliceSums}. Rows behind the last are computed from
     * clamped indices and not stored.
     */
    public static void tileSums(
            FloatArray x,
            FloatArray floats,
            IntArray words,
            FloatArray powers,
            IntArray places,
            IntArray layer,
            IntArray step,
            FloatArray sums,
            int format,
            int rows,
            int inputs,
            int firstColumn,
            int columns,
            int width) {
        for (@Parallel int i = 0; i < rowTiles(rows) * Slices.count(inputs) * columns; i++) {
            int column = i % columns;
            int slice = i / columns % Slices.count(inputs);
            int row = i / columns / Slices.count(inputs) * TILE_ROWS;
            int live = step.get(Step.ROWS);
            if (row < live) {
                int x0 = row * inputs;
                int x1 = Math.min(row + 1, rows - 1) * inputs;
                int x2 = Math.min(row + 2, rows - 1) * inputs;
                int x3 = Math.min(row + 3, rows - 1) * inputs;
                int x4 = Math.min(row + 4, rows - 1) * inputs;
                int x5 = Math.min(row + 5, rows - 1) * inputs;
                int x6 = Math.min(row + 6, rows - 1) * inputs;
                int x7 = Math.min(row + 7, rows - 1) * inputs;
                int firstWord = places.get(2 * layer.get(0));
                int firstFloat = places.get(2 * layer.get(0) + 1);
                int end = Math.min((slice + 1) * Slices.SIZE, inputs);
                int block = StoredFormat.block(format);
                float s0 = 0f, s1 = 0f, s2 = 0f, s3 = 0f, s4 = 0f, s5 = 0f, s6 = 0f, s7 = 0f;
                for (int first = slice * Slices.SIZE; first < end; first += block) {
                    float p0 = 0f, p1 = 0f, p2 = 0f, p3 = 0f, p4 = 0f, p5 = 0f, p6 = 0f, p7 = 0f;
                    float a0 = 0f, a1 = 0f, a2 = 0f, a3 = 0f, a4 = 0f, a5 = 0f, a6 = 0f, a7 = 0f;
                    for (int k = first; k < Math.min(first + block, end); k++) {
                        float w = StoredFormat.element(
                                format, floats, words, powers, firstWord, firstFloat, inputs, columns, k, column);
                        p0 = Fused.fma(x.get(x0 + k), w, p0);
                        p1 = Fused.fma(x.get(x1 + k), w, p1);
                        p2 = Fused.fma(x.get(x2 + k), w, p2);
                        p3 = Fused.fma(x.get(x3 + k), w, p3);
                        p4 = Fused.fma(x.get(x4 + k), w, p4);
                        p5 = Fused.fma(x.get(x5 + k), w, p5);
                        p6 = Fused.fma(x.get(x6 + k), w, p6);
                        p7 = Fused.fma(x.get(x7 + k), w, p7);
                        a0 += x.get(x0 + k);
                        a1 += x.get(x1 + k);
                        a2 += x.get(x2 + k);
                        a3 += x.get(x3 + k);
                        a4 += x.get(x4 + k);
                        a5 += x.get(x5 + k);
                        a6 += x.get(x6 + k);
                        a7 += x.get(x7 + k);
                    }
                    float scale = StoredFormat.scale(
                            format, floats, words, firstWord, firstFloat, inputs, columns, first, column);
                    s0 = Fused.fma(p0, scale, s0);
                    s1 = Fused.fma(p1, scale, s1);
                    s2 = Fused.fma(p2, scale, s2);
                    s3 = Fused.fma(p3, scale, s3);
                    s4 = Fused.fma(p4, scale, s4);
                    s5 = Fused.fma(p5, scale, s5);
                    s6 = Fused.fma(p6, scale, s6);
                    s7 = Fused.fma(p7, scale, s7);
                    if (StoredFormat.hasMinimum(format)) {
                        float minimum = StoredFormat.minimum(
                                format, floats, words, firstWord, firstFloat, inputs, columns, first, column);
                        s0 = Fused.fma(a0, minimum, s0);
                        s1 = Fused.fma(a1, minimum, s1);
                        s2 = Fused.fma(a2, minimum, s2);
                        s3 = Fused.fma(a3, minimum, s3);
                        s4 = Fused.fma(a4, minimum, s4);
                        s5 = Fused.fma(a5, minimum, s5);
                        s6 = Fused.fma(a6, minimum, s6);
                        s7 = Fused.fma(a7, minimum, s7);
                    }
                }
                int next = Slices.count(inputs) * width;
                int out = row * next + slice * width + firstColumn + column;
                sums.set(out, s0);
                if (row + 1 < live) {
                    sums.set(out + 1 * next, s1);
                }
                if (row + 2 < live) {
                    sums.set(out + 2 * next, s2);
                }
                if (row + 3 < live) {
                    sums.set(out + 3 * next, s3);
                }
                if (row + 4 < live) {
                    sums.set(out + 4 * next, s4);
                }
                if (row + 5 < live) {
                    sums.set(out + 5 * next, s5);
                }
                if (row + 6 < live) {
                    sums.set(out + 6 * next, s6);
                }
                if (row + 7 < live) {
                    sums.set(out + 7 * next, s7);
                }
            }
        }
    }

    /**
     * out[r][i] = table[i][tokens[r]] * factor.
     *
     * <p>Shapes: table [width][vocabSize] of one format, as the head reads it; out [rows][width].
     *
     * <p>Order: r and i parallel, i contiguous in out. A weight is rounded once: a quant times its scale is exact.
     */
    public static void lookUpTokens(
            IntArray tokens,
            FloatArray floats,
            IntArray words,
            FloatArray powers,
            IntArray places,
            IntArray step,
            FloatArray out,
            int format,
            int rows,
            int width,
            int vocabSize,
            float factor) {
        for (@Parallel int j = 0; j < rows * width; j++) {
            int row = j / width;
            int i = j % width;
            if (row < step.get(Step.ROWS)) {
                int firstWord = places.get(0);
                int firstFloat = places.get(1);
                int token = tokens.get(row);
                float value = StoredFormat.element(
                        format, floats, words, powers, firstWord, firstFloat, width, vocabSize, i, token);
                float scale =
                        StoredFormat.scale(format, floats, words, firstWord, firstFloat, width, vocabSize, i, token);
                float weight = value * scale;
                if (StoredFormat.hasMinimum(format)) {
                    float minimum = StoredFormat.minimum(
                            format, floats, words, firstWord, firstFloat, width, vocabSize, i, token);
                    // A sum, as what a product joins is no product: a minimum of -0 is 0.
                    weight = Fused.fma(value, scale, minimum + 0f);
                }
                out.set(j, weight * factor);
            }
        }
    }
}
