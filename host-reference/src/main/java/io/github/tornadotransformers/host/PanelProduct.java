package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.BlockData;
import io.github.tornadotransformers.models.checkpoint.DType;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The product of several rows of activations and a panel of {@link #COLUMNS} matrix columns. Every row uses a slice of the panel while it
 * is in the first-level cache: where it lies ({@link StoredTiles}), or copied to contiguous float32 memory ({@link Tiles}).
 */
final class PanelProduct {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final int LANES = VectorMath.LANES;

    /** Columns of a panel. */
    static final int COLUMNS = Tiles.COLUMNS;

    /** Rows that are multiplied together where they are not packed. */
    private static final int ABREAST = Tiles.ROWS;

    /** Rows whose sums over a slice of a panel that was not copied are made together: a tile, or two lower ones. */
    private static final int GROUP = 8;

    /**
     * Rows of a slice that come from memory before other tiles, or other columns, use them. Where a tile does not take all of them
     * at once, a processor that fetches ahead does it while they compute.
     */
    private static final int FETCHED = Tiles.ROWS < GROUP ? DType.BLOCK : HostOps.SLICE;

    /** Rows of the smallest block of a block format. */
    private static final int SMALLEST_BLOCK = 16;

    /** One slice of the panel, {@code [depth][COLUMNS]}. */
    private float[] panel = new float[HostOps.SLICE * COLUMNS];

    private final float[] sums = new float[GROUP * COLUMNS];
    private final float[] slices = new float[GROUP * COLUMNS];
    private final float[] scales = new float[HostOps.SLICE / SMALLEST_BLOCK * COLUMNS];
    private final float[] minima = new float[HostOps.SLICE / SMALLEST_BLOCK * COLUMNS];
    private final WidenedRows widenedRows = new WidenedRows();
    private final int[] starts = new int[ABREAST];
    private float[] totals = new float[ABREAST * COLUMNS];

    /** {@code [rows][COLUMNS]}: what the last product gave. */
    float[] totals() {
        return totals;
    }

    /** {@code totals[r][c] = sum_k x[r][k] * matrix[k][column + c]}, sliced, for {@code c < columns <= COLUMNS}. */
    void product(PackedRows x, HostMatrix matrix, int column, int columns) {
        product(x, 0, x.rows(), matrix, column, columns);
    }

    /** The same of rows from {@code firstRow} to {@code endRow}, each where a tile begins; their totals begin with those of {@code firstRow}. */
    void product(PackedRows x, int firstRow, int endRow, HostMatrix matrix, int column, int columns) {
        if (StoredTiles.take(matrix, column, x.rows())) {
            storedProduct(x, firstRow, endRow, matrix, column);
        } else if (matrix.dtype() == DType.INT8) {
            quantizedProduct(x, firstRow, endRow, matrix, column, columns);
        } else {
            product(
                    x,
                    firstRow,
                    endRow,
                    (start, size, to) -> widenedRows.copy(matrix, start, size, column, columns, to, 0, COLUMNS));
        }
    }

    /** Of a whole panel, where it lies. Those rows that come first wait for memory. */
    private void storedProduct(PackedRows x, int firstRow, int endRow, HostMatrix matrix, int column) {
        clearTotals(endRow - firstRow);
        for (int start = 0; start < x.depth(); start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, x.depth() - start);
            for (int row = firstRow; row < endRow; row += GROUP) {
                storedSlice(x, row, matrix, start, column, size, row == firstRow ? FETCHED : size);
                int count = Math.min(GROUP, endRow - row);
                VectorMath.add(totals, (row - firstRow) * COLUMNS, slices, 0, count * COLUMNS);
            }
        }
    }

    /** {@code slices[r][c]} of a group of rows, {@code step} elements of the slice after others. */
    private void storedSlice(PackedRows x, int first, HostMatrix matrix, int start, int column, int size, int step) {
        int end = Math.min(first + GROUP, x.rows());
        Arrays.fill(slices, 0f);
        for (int k = 0; k < size; k += step) {
            int depth = Math.min(step, size - k);
            int height;
            for (int row = first; row < end; row += height) {
                height = x.height(row);
                int at = x.at(start, size, row) + k * height;
                int to = (row - first) * COLUMNS;
                StoredTiles.accumulate(x.elements(), at, height, matrix, start + k, column, depth, slices, to);
            }
        }
    }

    /** {@code totals[r][c] = sum_k x[r][k] * matrix[k][c]}, sliced. */
    void product(PackedRows x, PanelSource matrix) {
        product(x, 0, x.rows(), matrix);
    }

    private void product(PackedRows x, int firstRow, int endRow, PanelSource matrix) {
        clearTotals(endRow - firstRow);
        for (int start = 0; start < x.depth(); start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, x.depth() - start);
            matrix.copy(start, size, panel);
            int height;
            for (int row = firstRow; row < endRow; row += height) {
                height = x.height(row);
                int to = (row - firstRow) * COLUMNS;
                Tiles.multiply(x.elements(), x.at(start, size, row), height, panel, 0, size, totals, to);
            }
        }
    }

    private void quantizedProduct(PackedRows x, int firstRow, int endRow, HostMatrix matrix, int column, int columns) {
        clearTotals(endRow - firstRow);
        for (int start = 0; start < x.depth(); start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, x.depth() - start);
            widenedRows.copy(matrix, start, size, column, columns, panel, 0, COLUMNS);
            for (int block = 0; block < size; block += DType.BLOCK) {
                int to = block / DType.BLOCK * COLUMNS;
                WidenedRows.copyScales(matrix, start + block, column, columns, scales, to);
            }
            int height;
            for (int row = firstRow; row < endRow; row += height) {
                height = x.height(row);
                quantizedSlice(x.elements(), x.at(start, size, row), height, size);
                VectorMath.add(totals, (row - firstRow) * COLUMNS, slices, 0, height * COLUMNS);
            }
        }
    }

    /** Of the panel of a matrix in a block format that begins at {@code column}. */
    void product(PackedRows x, BlockData matrix, int column) {
        clearTotals(x.rows());
        int blockRows = matrix.format().blockRows();
        float[] inputs = matrix.format().hasMinimum() ? x.blockSums() : null;
        for (int start = 0; start < x.depth(); start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, x.depth() - start);
            WidenedBlocks.copyQuants(matrix, start, size, column, panel);
            WidenedBlocks.copyScales(matrix, start, size, column, scales, minima);
            int height;
            for (int row = 0; row < x.rows(); row += height) {
                height = x.height(row);
                int at = x.at(start, size, row);
                Arrays.fill(slices, 0f);
                for (int block = 0; block < size; block += blockRows) {
                    addBlock(x.elements(), at + block * height, height, block, blockRows, block / blockRows * COLUMNS);
                    if (inputs != null) {
                        addMinima(block / blockRows * COLUMNS, height, inputs, x.blockSumsAt(start + block, row));
                    }
                }
                VectorMath.add(totals, row * COLUMNS, slices, 0, height * COLUMNS);
            }
        }
    }

    /** {@code slices[r][c] += inputs[first + r] * minima[minimum + c]}. */
    private void addMinima(int minimum, int height, float[] inputs, int first) {
        for (int c = 0; c < COLUMNS; c += LANES) {
            FloatVector factor = FloatVector.fromArray(FLOATS, minima, minimum + c);
            for (int r = 0; r < height; r++) {
                int at = r * COLUMNS + c;
                factor.fma(FloatVector.broadcast(FLOATS, inputs[first + r]), FloatVector.fromArray(FLOATS, slices, at))
                        .intoArray(slices, at);
            }
        }
    }

    private void quantizedSlice(float[] x, int at, int height, int size) {
        Arrays.fill(slices, 0f);
        for (int block = 0; block < size; block += DType.BLOCK) {
            int depth = Math.min(DType.BLOCK, size - block);
            addBlock(x, at + block * height, height, block, depth, block / DType.BLOCK * COLUMNS);
        }
    }

    /** {@code slices[r][c] += scales[scale + c] * sum_k x[at + k * height + r] * panel[first + k][c]} for {@code k < depth}. */
    private void addBlock(float[] x, int at, int height, int first, int depth, int scale) {
        if (depth == Tiles.BLOCK) {
            Tiles.multiplyBlock(x, at, height, panel, first, scales, scale, slices, 0);
            return;
        }
        Arrays.fill(sums, 0f);
        Tiles.multiply(x, at, height, panel, first, depth, sums, 0);
        for (int c = 0; c < COLUMNS; c += LANES) {
            FloatVector factor = FloatVector.fromArray(FLOATS, scales, scale + c);
            for (int i = c; i < height * COLUMNS; i += COLUMNS) {
                FloatVector.fromArray(FLOATS, sums, i)
                        .fma(factor, FloatVector.fromArray(FLOATS, slices, i))
                        .intoArray(slices, i);
            }
        }
    }

    /** Room for a group of rows more: the last group may be written whole. */
    private void clearTotals(int rows) {
        int size = (rows + GROUP) * COLUMNS;
        if (totals.length < size) {
            totals = new float[size];
        }
        Arrays.fill(totals, 0, size, 0f);
    }

    /**
     * {@code totals[r][c] = sum_{k < depth} x[xOffset + r * xStride + k] * matrix[k][c]}: one slice, whatever the depth.
     * Rows before {@code firstRow} are left undefined.
     */
    void unslicedProduct(float[] x, int xOffset, int xStride, int firstRow, int rows, int depth, PanelSource matrix) {
        clearTotals(rows);
        ensurePanel(depth);
        matrix.copy(0, depth, panel);
        for (int row = firstRow; row < rows; row += ABREAST) {
            startAt(xOffset + row * xStride, xStride, Math.min(ABREAST, rows - row));
            Tiles.accumulate(x, starts, panel, 0, depth, totals, row * COLUMNS);
        }
    }

    /**
     * {@code totals[r][c] = sum_k x[xOffset + r * xStride + k] * matrix[k][c]}, sliced over k, for the last {@code window}
     * of {@code k < length + r}: the first row sums terms up to {@code length}, each further row one more.
     */
    void causalProduct(float[] x, int xOffset, int xStride, int length, int window, int rows, PanelSource matrix) {
        clearTotals(rows);
        int first = length > window ? length - window : 0;
        for (int start = first / HostOps.SLICE * HostOps.SLICE; start < length + rows - 1; start += HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE, length + rows - 1 - start);
            matrix.copy(start, size, panel);
            int firstRow = Math.max(0, start + 1 - length);
            int endRow = (int) Math.min(rows, (long) start + size + window - length);
            for (int row = firstRow; row < endRow; row += ABREAST) {
                int count = Math.min(ABREAST, endRow - row);
                startAt(xOffset + row * xStride + start, xStride, count);
                causalSlice(x, length + row - start, window, size, count);
                VectorMath.add(totals, row * COLUMNS, sums, 0, count * COLUMNS);
            }
        }
    }

    /**
     * {@code sums[r][c]} of one slice: row r sums the last {@code window} of its {@code end + r} terms, as far as they are in
     * {@code [0, size)}. What all rows have in common is summed together.
     */
    private void causalSlice(float[] x, int end, int window, int size, int count) {
        int last = end + count - 1;
        int commonFirst = last > window ? last - window : 0;
        int commonEnd = Math.max(commonFirst, Math.min(size, end));
        Arrays.fill(sums, 0f);
        for (int r = 0; r < count; r++) {
            int own = end + r > window ? end + r - window : 0;
            addTerms(x, starts[r], own, Math.min(commonFirst, Math.min(size, end + r)), r * COLUMNS);
        }
        Tiles.accumulate(x, starts, panel, commonFirst, Math.min(size, commonEnd) - commonFirst, sums, 0);
        for (int r = 0; r < count; r++) {
            addTerms(x, starts[r], commonEnd, Math.min(size, end + r), r * COLUMNS);
        }
    }

    /**
     * {@code totals[r][c] = sum_{first + c <= k < depth} x[xOffset + r * xStride + k] * matrix[k][c]}, sliced over k: the
     * first column sums all terms from {@code first} on, each further column one fewer.
     */
    void anticausalProduct(float[] x, int xOffset, int xStride, int rows, int first, int depth, PanelSource matrix) {
        clearTotals(rows);
        for (int start = first; start < depth; start = (start / HostOps.SLICE + 1) * HostOps.SLICE) {
            int size = Math.min(HostOps.SLICE - start % HostOps.SLICE, depth - start);
            int ramp = Math.clamp(first + COLUMNS - 1 - start, 0, size);
            matrix.copy(start, size, panel);
            for (int row = 0; row < rows; row += ABREAST) {
                int count = Math.min(ABREAST, rows - row);
                startAt(xOffset + row * xStride + start, xStride, count);
                Arrays.fill(sums, 0f);
                for (int r = 0; r < count; r++) {
                    addRamp(x, starts[r], start - first, ramp, r * COLUMNS);
                }
                Tiles.accumulate(x, starts, panel, ramp, size - ramp, sums, 0);
                VectorMath.add(totals, row * COLUMNS, sums, 0, count * COLUMNS);
            }
        }
    }

    /** {@code sums[row][c] += x[offset + k] * panel[k][c]} for {@code k < end, c <= above + k}, in order. */
    private void addRamp(float[] x, int offset, int above, int end, int row) {
        for (int c = 0; c < COLUMNS; c += LANES) {
            FloatVector sum = FloatVector.fromArray(FLOATS, sums, row + c);
            for (int k = Math.max(0, c - above); k < end; k++) {
                FloatVector fused = FloatVector.fromArray(FLOATS, panel, k * COLUMNS + c)
                        .fma(FloatVector.broadcast(FLOATS, x[offset + k]), sum);
                sum = sum.blend(fused, FLOATS.indexInRange(c, above + k + 1));
            }
            sum.intoArray(sums, row + c);
        }
    }

    /** {@code sums[row][c] += x[offset + t] * panel[t][c]} for t from {@code first} to {@code end}, in order. */
    private void addTerms(float[] x, int offset, int first, int end, int row) {
        for (int t = first; t < end; t++) {
            FloatVector factor = FloatVector.broadcast(FLOATS, x[offset + t]);
            for (int c = 0; c < COLUMNS; c += LANES) {
                FloatVector.fromArray(FLOATS, panel, t * COLUMNS + c)
                        .fma(factor, FloatVector.fromArray(FLOATS, sums, row + c))
                        .intoArray(sums, row + c);
            }
        }
    }

    private void ensurePanel(int depth) {
        if (panel.length < depth * COLUMNS) {
            panel = new float[depth * COLUMNS];
        }
    }

    /** Sets where the rows of a group begin; where there are fewer than a group, the last stands in for the missing. */
    private void startAt(int first, int stride, int count) {
        for (int r = 0; r < ABREAST; r++) {
            starts[r] = first + Math.min(r, count - 1) * stride;
        }
    }
}
