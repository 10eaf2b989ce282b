package io.github.tornadotransformers.kernels;

import static io.github.tornadotransformers.kernels.LinearTileGroupKernels.COLUMNS;
import static io.github.tornadotransformers.kernels.LinearTileGroupKernels.DEPTH;
import static io.github.tornadotransformers.kernels.LinearTileGroupKernels.LINE;
import static io.github.tornadotransformers.kernels.LinearTileGroupKernels.MOST_ROWS;
import static io.github.tornadotransformers.kernels.LinearTileGroupKernels.OWN;
import static io.github.tornadotransformers.kernels.LinearTileGroupKernels.ROWS;
import static io.github.tornadotransformers.kernels.LinearTileGroupKernels.WEIGHTS;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The slice sums of {@link StoredKernels} for several rows, of blocks, by groups of {@value #GROUP} work items, in the tiles of {@link
 * LinearTileGroupKernels}: words are taken apart once for all rows of a tile. Scales are on their way while the products of the block before
 * are taken.
 */
public final class StoredTileGroupKernels {
    /** Work items of a group. */
    public static final int GROUP = LinearTileGroupKernels.GROUP;

    /** The fewest rows of quants in a word. */
    private static final int ROWS_OF_OCTETS = 4;

    private StoredTileGroupKernels() {}

    /** Work items for so many neighbouring columns of one format. */
    public static long items(int rows, int parts, int columns) {
        return (long) LinearTileGroupKernels.tiles(rows, columns) * parts * GROUP;
    }

    /**
     * sums[r][p][firstColumn + c] = sum over part p of x[r][k] * w[layer][k][c].
     *
     * <p>Shapes: x [rows][inputs]; sums [rows][parts][width].
     *
     * <p>Order: tiles and parts parallel, tiles of the same columns neighbours; k as in {@link StoredKernels#sliceSums}, slices left to right. The
     * sums of a block's inputs, which all columns share, are taken by an item for each row. Rows and columns behind the last are computed from
     * clamped indices and not stored.
     *
     * @param tileRows as {@link LinearTileGroupKernels#tileRows} has it
     * @param parts 1, or as many as there are slices
     */
    public static void tileSums(
            KernelContext context,
            FloatArray x,
            FloatArray floats,
            IntArray words,
            IntArray places,
            IntArray layer,
            IntArray step,
            FloatArray sums,
            int format,
            int tileRows,
            int rows,
            int parts,
            int inputs,
            int firstColumn,
            int columns,
            int width) {
        float[] inputsOf = context.allocateFloatLocalArray(DEPTH * LINE);
        float[] weightsOf = context.allocateFloatLocalArray(WEIGHTS);
        float[] sumsOfInputs = context.allocateFloatLocalArray(MOST_ROWS);
        float[] nextInputs = new float[MOST_ROWS * DEPTH / GROUP];
        int[] nextLow = new int[WEIGHTS / ROWS_OF_OCTETS / GROUP];
        int[] nextHigh = new int[WEIGHTS / ROWS_OF_OCTETS / GROUP];
        int[] nextIntegers = new int[COLUMNS];
        float[] nextScales = new float[COLUMNS];
        float[] nextMinima = new float[COLUMNS];
        float[] scales = new float[COLUMNS];
        float[] minima = new float[COLUMNS];
        float[] block = new float[OWN];
        float[] slice = new float[OWN];
        float[] total = new float[OWN];
        int perWord = StoredFormat.rowsOfWord(format);
        int tileColumns = GROUP * OWN / tileRows;
        int apart = tileColumns / COLUMNS;
        int rowTiles = LinearTileGroupKernels.tilesOf(tileRows, rows);
        int columnTiles = LinearTileGroupKernels.tilesOf(tileColumns, columns);
        int lane = context.localIdx & (GROUP - 1);
        int row = context.groupIdx % rowTiles * tileRows;
        int column = context.groupIdx / rowTiles % columnTiles * tileColumns;
        int part = context.groupIdx / rowTiles / columnTiles;
        int live = step.get(Step.ROWS);
        if (row < live) {
            int firstWord = places.get(2 * layer.get(0));
            int firstFloat = places.get(2 * layer.get(0) + 1);
            int ownRow = lane / apart * ROWS;
            int ownColumn = lane % apart;
            int begin = part * Slices.SIZE;
            int end = parts == 1 ? inputs : Math.min(begin + Slices.SIZE, inputs);
            float p00 = 0f, p01 = 0f, p02 = 0f, p03 = 0f;
            float p10 = 0f, p11 = 0f, p12 = 0f, p13 = 0f;
            float p20 = 0f, p21 = 0f, p22 = 0f, p23 = 0f;
            float p30 = 0f, p31 = 0f, p32 = 0f, p33 = 0f;
            float p40 = 0f, p41 = 0f, p42 = 0f, p43 = 0f;
            float p50 = 0f, p51 = 0f, p52 = 0f, p53 = 0f;
            float p60 = 0f, p61 = 0f, p62 = 0f, p63 = 0f;
            float p70 = 0f, p71 = 0f, p72 = 0f, p73 = 0f;
            for (int i = 0; i < OWN; i++) {
                slice[i] = 0f;
                total[i] = 0f;
            }
            for (int next = begin; next < end + DEPTH; next += DEPTH) {
                if (next < end) {
                    for (int j = 0; j < tileRows * DEPTH / GROUP; j++) {
                        int i = j * GROUP + lane;
                        int r = Math.min(row + i / DEPTH, rows - 1);
                        nextInputs[j] = x.get(r * inputs + next + i % DEPTH);
                    }
                    for (int j = 0; j < tileColumns * DEPTH / perWord / GROUP; j++) {
                        int i = j * GROUP + lane;
                        int k = next + i / tileColumns * perWord;
                        int c = Math.min(column + i % tileColumns, columns - 1);
                        nextLow[j] = words.get(firstWord + k / perWord * columns + c);
                        if (StoredFormat.hasHighBits(format)) {
                            int at = firstWord + StoredFormat.highWord(format, inputs, k) * columns + c;
                            nextHigh[j] = StoredFormat.highsFrom(format, words.get(at), k);
                        }
                    }
                    if (next % StoredFormat.block(format) == 0) {
                        for (int j = 0; j < COLUMNS; j++) {
                            int c = Math.min(column + ownColumn + j * apart, columns - 1);
                            nextScales[j] = floats.get(StoredFormat.scaleAt(format, firstFloat, columns, next, c));
                            if (StoredFormat.hasMinimum(format)) {
                                nextMinima[j] = floats.get(
                                        StoredFormat.minimumAt(format, firstFloat, inputs, columns, next, c));
                            }
                            if (StoredFormat.isTwoLevel(format)) {
                                nextIntegers[j] =
                                        words.get(StoredFormat.integersAt(format, firstWord, inputs, columns, next, c));
                            }
                        }
                    }
                }
                if (next > begin) {
                    if (StoredFormat.hasMinimum(format) && lane < tileRows) {
                        float all = 0f;
                        if (next % StoredFormat.block(format) != DEPTH % StoredFormat.block(format)) {
                            all = sumsOfInputs[lane];
                        }
                        for (int k = 0; k < DEPTH; k++) {
                            all += inputsOf[k * LINE + lane];
                        }
                        sumsOfInputs[lane] = all;
                    }
                    for (int k = 0; k < DEPTH; k++) {
                        int from = k * LINE + ownRow;
                        int to = k * tileColumns + ownColumn;
                        float x0 = inputsOf[from];
                        float x1 = inputsOf[from + 1];
                        float x2 = inputsOf[from + 2];
                        float x3 = inputsOf[from + 3];
                        float x4 = inputsOf[from + 4];
                        float x5 = inputsOf[from + 5];
                        float x6 = inputsOf[from + 6];
                        float x7 = inputsOf[from + 7];
                        float w0 = weightsOf[to];
                        float w1 = weightsOf[to + apart];
                        float w2 = weightsOf[to + 2 * apart];
                        float w3 = weightsOf[to + 3 * apart];
                        p00 = Fused.fma(x0, w0, p00);
                        p01 = Fused.fma(x0, w1, p01);
                        p02 = Fused.fma(x0, w2, p02);
                        p03 = Fused.fma(x0, w3, p03);
                        p10 = Fused.fma(x1, w0, p10);
                        p11 = Fused.fma(x1, w1, p11);
                        p12 = Fused.fma(x1, w2, p12);
                        p13 = Fused.fma(x1, w3, p13);
                        p20 = Fused.fma(x2, w0, p20);
                        p21 = Fused.fma(x2, w1, p21);
                        p22 = Fused.fma(x2, w2, p22);
                        p23 = Fused.fma(x2, w3, p23);
                        p30 = Fused.fma(x3, w0, p30);
                        p31 = Fused.fma(x3, w1, p31);
                        p32 = Fused.fma(x3, w2, p32);
                        p33 = Fused.fma(x3, w3, p33);
                        p40 = Fused.fma(x4, w0, p40);
                        p41 = Fused.fma(x4, w1, p41);
                        p42 = Fused.fma(x4, w2, p42);
                        p43 = Fused.fma(x4, w3, p43);
                        p50 = Fused.fma(x5, w0, p50);
                        p51 = Fused.fma(x5, w1, p51);
                        p52 = Fused.fma(x5, w2, p52);
                        p53 = Fused.fma(x5, w3, p53);
                        p60 = Fused.fma(x6, w0, p60);
                        p61 = Fused.fma(x6, w1, p61);
                        p62 = Fused.fma(x6, w2, p62);
                        p63 = Fused.fma(x6, w3, p63);
                        p70 = Fused.fma(x7, w0, p70);
                        p71 = Fused.fma(x7, w1, p71);
                        p72 = Fused.fma(x7, w2, p72);
                        p73 = Fused.fma(x7, w3, p73);
                    }
                }
                context.localBarrier();
                if (next > begin && next % StoredFormat.block(format) == 0) {
                    block[0] = p00;
                    block[1] = p01;
                    block[2] = p02;
                    block[3] = p03;
                    block[4] = p10;
                    block[5] = p11;
                    block[6] = p12;
                    block[7] = p13;
                    block[8] = p20;
                    block[9] = p21;
                    block[10] = p22;
                    block[11] = p23;
                    block[12] = p30;
                    block[13] = p31;
                    block[14] = p32;
                    block[15] = p33;
                    block[16] = p40;
                    block[17] = p41;
                    block[18] = p42;
                    block[19] = p43;
                    block[20] = p50;
                    block[21] = p51;
                    block[22] = p52;
                    block[23] = p53;
                    block[24] = p60;
                    block[25] = p61;
                    block[26] = p62;
                    block[27] = p63;
                    block[28] = p70;
                    block[29] = p71;
                    block[30] = p72;
                    block[31] = p73;
                    p00 = p01 = p02 = p03 = 0f;
                    p10 = p11 = p12 = p13 = 0f;
                    p20 = p21 = p22 = p23 = 0f;
                    p30 = p31 = p32 = p33 = 0f;
                    p40 = p41 = p42 = p43 = 0f;
                    p50 = p51 = p52 = p53 = 0f;
                    p60 = p61 = p62 = p63 = 0f;
                    p70 = p71 = p72 = p73 = 0f;
                    for (int i = 0; i < OWN; i++) {
                        slice[i] = Fused.fma(block[i], scales[i % COLUMNS], slice[i]);
                        if (StoredFormat.hasMinimum(format)) {
                            slice[i] = Fused.fma(sumsOfInputs[ownRow + i / COLUMNS], minima[i % COLUMNS], slice[i]);
                        }
                    }
                    if (next % Slices.SIZE == 0 || next >= end) {
                        for (int i = 0; i < OWN; i++) {
                            total[i] += slice[i];
                            slice[i] = 0f;
                        }
                    }
                }
                if (next < end) {
                    for (int j = 0; j < tileRows * DEPTH / GROUP; j++) {
                        int i = j * GROUP + lane;
                        inputsOf[i % DEPTH * LINE + i / DEPTH] = nextInputs[j];
                    }
                    for (int j = 0; j < tileColumns * DEPTH / perWord / GROUP; j++) {
                        int i = j * GROUP + lane;
                        int to = i / tileColumns * perWord * tileColumns + i % tileColumns;
                        for (int p = 0; p < perWord; p++) {
                            weightsOf[to + p * tileColumns] = StoredFormat.quant(format, nextLow[j], nextHigh[j], p);
                        }
                    }
                    if (next % StoredFormat.block(format) == 0) {
                        for (int j = 0; j < COLUMNS; j++) {
                            scales[j] = StoredFormat.scaled(format, nextScales[j], nextIntegers[j], next);
                            if (StoredFormat.hasMinimum(format)) {
                                minima[j] = StoredFormat.raised(format, nextMinima[j], nextIntegers[j], next);
                            }
                        }
                    }
                }
                context.localBarrier();
            }
            for (int i = 0; i < OWN; i++) {
                int r = row + ownRow + i / COLUMNS;
                int c = column + ownColumn + i % COLUMNS * apart;
                if (r < live && c < columns) {
                    sums.set((r * parts + part) * width + firstColumn + c, total[i]);
                }
            }
        }
    }
}
