package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * Products of matrices by groups of {@value #GROUP} work items: the slice sums of {@link LinearKernels} for several rows, and the gradients
 * of {@link LinearGradientKernels}. A group has a tile of the result, an item {@value #ROWS} rows and {@value #COLUMNS} columns of it in registers.
 *
 * <p>The items bring {@value #DEPTH} inputs of the tile's rows and as many weights of its columns into local memory, where each weight is
 * widened once for all rows. They are on their way while the products of those before them are taken.
 */
public final class LinearTileGroupKernels {
    /** Work items of a group. */
    public static final int GROUP = 128;

    /** Rows of an item, and its columns. */
    static final int ROWS = 8;

    static final int COLUMNS = 4;

    /** Products of an item. */
    static final int OWN = ROWS * COLUMNS;

    /** Inputs that are brought at once. */
    static final int DEPTH = 16;

    /** Rows of the smallest tile, and of the largest. */
    private static final int LEAST_ROWS = 16;

    static final int MOST_ROWS = 64;

    /** From one input to the next in local memory: beside the rows of the largest tile, what keeps inputs in banks of their own. */
    static final int LINE = MOST_ROWS + 2;

    /** Beside the columns of a tile, where neighbouring items bring weights of one column: what keeps those in banks of their own. */
    private static final int APART = 2;

    /** Weights of the largest tile. */
    static final int WEIGHTS = DEPTH * GROUP * OWN / LEAST_ROWS;

    /** What is multiplied, {@link #tileProducts} says. */
    public static final int SUMS = 0;

    public static final int INPUT_GRADIENTS = 1;
    public static final int WEIGHT_GRADIENTS = 2;

    /** Groups that keep a large device busy. */
    private static final int MANY_GROUPS = 256;

    private LinearTileGroupKernels() {}

    /** Rows of a tile: the fewest that hold all rows; no more than fit. */
    public static int tileRows(int rows) {
        int tile = LEAST_ROWS;
        while (tile < Math.min(rows, MOST_ROWS)) {
            tile *= 2;
        }
        return tile;
    }

    static int tiles(int rows, int columns) {
        int tileRows = tileRows(rows);
        return tilesOf(tileRows, rows) * tilesOf(GROUP * OWN / tileRows, columns);
    }

    static int tilesOf(int size, int all) {
        return all / size + Math.min(all % size, 1);
    }

    /** Sums that a product is left in: one for each slice, or the only one where there are groups enough without that. */
    public static int parts(int rows, int inputs, int columns) {
        return tiles(rows, columns) < MANY_GROUPS ? Slices.count(inputs) : 1;
    }

    /** Work items of {@link #SUMS}. */
    public static long items(int rows, int inputs, int columns) {
        return (long) tiles(rows, columns) * parts(rows, inputs, columns) * GROUP;
    }

    /** Work items of a gradient of that size. */
    public static long gradientItems(int rows, int columns) {
        return (long) tiles(rows, columns) * GROUP;
    }

    /**
     * A product of matrices: which of them is a constant when a device compiles.
     *
     * <p>{@link #SUMS}: out[r][p][c] = sum over part p of x[r][k] * w[layer][k][c]. Shapes: x [rows][inputs]; w [layers][inputs][columns]; out
     * [rows][parts][columns].
     *
     * <p>{@link #INPUT_GRADIENTS}, as {@link LinearGradientKernels#addToInputs}: out[r][c] += sum_k x[r][k] * w[layer][c][k]. Shapes: x [rows][inputs];
     * w [layers][columns][inputs]; out [rows][columns]; x being the gradient of what the layer puts out, inputs how much that is.
     *
     * <p>{@link #WEIGHT_GRADIENTS}, as {@link LinearGradientKernels#addToWeights}: out[layer][r][c] += sum_k x[k][r] * w[k][c], k below
     * step[ROWS]. Shapes: x [inputs][rows]; w [inputs][columns]; out [layers][rows][columns]; w being the gradient of what the layer puts out.
     *
     * <p>Order: tiles and parts parallel, tiles of the same columns neighbours; k as in {@link LinearKernels#sliceSums}, slices left to right. Rows and
     * columns behind the last are computed from clamped indices and not stored.
     *
     * @param product which one; a gradient is of float32, and has one part
     * @param tileRows as {@link #tileRows} has it
     * @param parts as {@link #parts} has it
     */
    public static void tileProducts(
            KernelContext context,
            FloatArray x,
            FloatArray floats,
            IntArray words,
            FloatArray scales,
            FloatArray powers,
            IntArray layer,
            IntArray step,
            FloatArray out,
            int product,
            int format,
            int tileRows,
            int rows,
            int parts,
            int inputs,
            int columns) {
        float[] inputsOf = context.allocateFloatLocalArray(DEPTH * LINE);
        float[] weightsOf = context.allocateFloatLocalArray(WEIGHTS + DEPTH * APART);
        float[] nextInputs = new float[MOST_ROWS * DEPTH / GROUP];
        float[] nextFloats = new float[WEIGHTS / GROUP];
        int[] nextWords = new int[WEIGHTS / GROUP];
        float[] block = new float[OWN];
        float[] slice = new float[OWN];
        float[] total = new float[OWN];
        int perWord = columns % WeightFormat.perWord(format) == 0 ? WeightFormat.perWord(format) : 1;
        int tileColumns = GROUP * OWN / tileRows;
        int tileWords = tileColumns / perWord;
        int line = product == INPUT_GRADIENTS ? tileColumns + APART : tileColumns;
        int apart = tileColumns / COLUMNS;
        int rowTiles = tilesOf(tileRows, rows);
        int columnTiles = tilesOf(tileColumns, columns);
        int lane = context.localIdx & (GROUP - 1);
        int row = context.groupIdx % rowTiles * tileRows;
        int column = context.groupIdx / rowTiles % columnTiles * tileColumns;
        int part = context.groupIdx / rowTiles / columnTiles;
        int live = product == WEIGHT_GRADIENTS ? rows : step.get(Step.ROWS);
        int depth = product == WEIGHT_GRADIENTS ? step.get(Step.ROWS) : inputs;
        if (row < live) {
            int ownRow = lane / apart * ROWS;
            int ownColumn = lane % apart;
            int begin = part * Slices.SIZE;
            int scale = (layer.get(0) * WeightFormat.blocks(inputs) + begin / WeightFormat.INT8_BLOCK) * columns;
            int end = parts == 1 ? depth : Math.min(begin + Slices.SIZE, depth);
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
                        int r = Math.min(row + inputRow(product, i, tileRows), rows - 1);
                        int k = Math.min(next + inputTerm(product, i, tileRows), depth - 1);
                        nextInputs[j] = x.get(product == WEIGHT_GRADIENTS ? k * rows + r : r * depth + k);
                    }
                    for (int j = 0; j < tileWords * DEPTH / GROUP; j++) {
                        int i = j * GROUP + lane;
                        int at = weight(product, i, layer.get(0), next, depth, column, tileWords, perWord, columns);
                        if (format == WeightFormat.F32) {
                            nextFloats[j] = floats.get(at);
                        } else {
                            nextWords[j] = words.get(at / WeightFormat.perWord(format));
                        }
                    }
                }
                if (next > begin) {
                    for (int k = 0; k < Math.min(DEPTH, end + DEPTH - next); k++) {
                        int from = k * LINE + ownRow;
                        int to = k * line + ownColumn;
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
                    if (next % WeightFormat.block(format) == 0 || next >= end) {
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
                        if (format == WeightFormat.INT8) {
                            for (int i = 0; i < OWN; i++) {
                                int of = Math.min(column + ownColumn + i % COLUMNS * apart, columns - 1);
                                slice[i] = Fused.fma(block[i], scales.get(scale + of), slice[i]);
                            }
                            scale += columns;
                        }
                        if (format != WeightFormat.INT8 || next % Slices.SIZE == 0 || next >= end) {
                            for (int i = 0; i < OWN; i++) {
                                total[i] += format == WeightFormat.INT8 ? slice[i] : block[i];
                                slice[i] = 0f;
                            }
                        }
                    }
                }
                context.localBarrier();
                for (int j = 0; j < tileRows * DEPTH / GROUP; j++) {
                    int i = j * GROUP + lane;
                    inputsOf[inputTerm(product, i, tileRows) * LINE + inputRow(product, i, tileRows)] = nextInputs[j];
                }
                for (int j = 0; j < tileWords * DEPTH / GROUP; j++) {
                    int i = j * GROUP + lane;
                    if (product == INPUT_GRADIENTS) {
                        weightsOf[i % DEPTH * line + i / DEPTH] = nextFloats[j];
                    } else {
                        int at = weight(product, i, layer.get(0), next, depth, column, tileWords, perWord, columns);
                        for (int p = 0; p < perWord; p++) {
                            int place = perWord == 1 ? at % WeightFormat.perWord(format) : p;
                            weightsOf[i * perWord + p] = format == WeightFormat.F32
                                    ? nextFloats[j]
                                    : WeightFormat.part(format, nextWords[j], place, powers);
                        }
                    }
                }
                context.localBarrier();
            }
            for (int i = 0; i < OWN; i++) {
                int r = row + ownRow + i / COLUMNS;
                int c = column + ownColumn + i % COLUMNS * apart;
                if (r < live && c < columns) {
                    int first = product == WEIGHT_GRADIENTS ? layer.get(0) * rows : 0;
                    int of = ((first + r) * parts + part) * columns + c;
                    float sum = total[i];
                    if (product != SUMS) {
                        sum += out.get(of);
                    }
                    out.set(of, sum);
                }
            }
        }
    }

    /** Which row of a tile an item's i-th input is of; neighbours read what is contiguous. */
    private static int inputRow(int product, int i, int tileRows) {
        return product == WEIGHT_GRADIENTS ? i % tileRows : i / DEPTH;
    }

    /** Which of the terms that are brought together an item's i-th input is of. */
    private static int inputTerm(int product, int i, int tileRows) {
        return product == WEIGHT_GRADIENTS ? i / tileRows : i % DEPTH;
    }

    /**
     * Where an item's i-th weight is: the first element of a row's word, or of the last in the row.
     *
     * @param next the first of the terms that are brought together
     */
    private static int weight(
            int product,
            int i,
            int layer,
            int next,
            int depth,
            int firstColumn,
            int tileWords,
            int perWord,
            int columns) {
        int at;
        if (product == INPUT_GRADIENTS) {
            int c = Math.min(firstColumn + i / DEPTH, columns - 1);
            at = (layer * columns + c) * depth + Math.min(next + i % DEPTH, depth - 1);
        } else {
            int first = product == WEIGHT_GRADIENTS ? 0 : layer * depth;
            int k = first + Math.min(next + i / tileWords, depth - 1);
            at = k * columns + Math.min(firstColumn + i % tileWords * perWord, columns - perWord);
        }
        return at & Integer.MAX_VALUE;
    }
}
