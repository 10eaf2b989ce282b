package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Writes tiles of floats into one layer of a weight, in the weight's type. A tile of an {@code INT8} weight begins at a
 * multiple of {@link DType#BLOCK} rows and ends at one, or at the last row. For one thread; several may each have a sink to
 * write disjoint tiles.
 */
final class TileSink {
    private static final ValueLayout.OfFloat FLOATS = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** Elements of 32 bits are aligned where a panel's row of 16-bit ones is. */
    private static final ValueLayout.OfInt INTS = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final ValueLayout.OfShort SHORTS = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The smallest magnitudes, as float bits, that round to an infinity of the narrower type. */
    private static final int BF16_OVERFLOW = 0x7F7F_8000;

    private static final int F16_OVERFLOW = Float.floatToIntBits(65_520f);
    private static final int INFINITY_BITS = 0x7F80_0000;
    private static final int MAGNITUDE = 0x7FFF_FFFF;

    /** Columns of a panel that lie beside another. */
    private static final int PAIRS = WeightLayout.PANEL / 2;

    private final DType dtype;
    private final WeightLayout layout;
    private final int rows;
    private final int columns;
    private final MemorySegment elements;
    private final MemorySegment scales;
    private final short[] narrowed;
    private final byte[] quantized;
    private final byte[] quantizedRun;
    private final float[] blockScales;
    private final short[] run;
    private final int[] pairs;
    private long overflows;

    TileSink(WeightData data, int layer) {
        this.dtype = data.dtype();
        this.layout = data.layout();
        this.rows = data.weight().rows();
        this.columns = data.weight().columns();
        this.elements = data.layer(layer);
        this.scales = data.layerScales(layer);
        boolean quantizes = dtype == DType.INT8;
        int halves = dtype.bytes() == Short.BYTES ? Tile.ELEMENTS : 0;
        this.narrowed = new short[halves];
        this.run = new short[halves];
        this.pairs = new int[halves == 0 ? 0 : Tile.SIDE * PAIRS];
        this.quantized = new byte[quantizes ? Tile.ELEMENTS : 0];
        this.quantizedRun = new byte[quantized.length];
        this.blockScales = new float[quantizes ? Tile.SIDE : 0];
    }

    /** How many finite values became infinite. */
    long overflows() {
        return overflows;
    }

    DType dtype() {
        return dtype;
    }

    /**
     * @param tile the upper left {@code [tileRows][tileColumns]} of {@code [SIDE][SIDE]}; its first element goes to
     *     {@code (row, column)} of the layer
     */
    void write(float[] tile, int tileRows, int tileColumns, long row, long column) {
        switch (dtype) {
            case F32 ->
                forEachRun(tileRows, tileColumns, row, column, (from, r, c, count) -> {
                    long to = index(dtype, rows, r, c) * Float.BYTES;
                    MemorySegment.copy(tile, from, elements, FLOATS, to, count);
                });
            case BF16 -> {
                for (int i = 0; i < tileRows * Tile.SIDE; i++) {
                    narrowed[i] = Bfloat16.ofFloat(tile[i]);
                }
                writeBits(narrowed, tileRows, tileColumns, row, column);
                countOverflows(tile, tileRows, tileColumns, BF16_OVERFLOW);
            }
            case F16 -> {
                for (int i = 0; i < tileRows * Tile.SIDE; i++) {
                    narrowed[i] = Float.floatToFloat16(tile[i]);
                }
                writeBits(narrowed, tileRows, tileColumns, row, column);
                countOverflows(tile, tileRows, tileColumns, F16_OVERFLOW);
            }
            case INT8 -> writeQuantized(tile, tileRows, tileColumns, row, column);
            case STORED -> throw new IllegalStateException("tensors are kept apart");
        }
    }

    /** As {@link #write}, of a tile of 16-bit elements that are of the weight's type already. */
    void writeBits(short[] tile, int tileRows, int tileColumns, long row, long column) {
        int count;
        for (int c = 0; c < tileColumns; c += count) {
            int first = (int) column + c;
            count = Math.min(tileColumns - c, layout.runEnd(columns, first) - first);
            for (int r = 0; r < tileRows; r++) {
                System.arraycopy(tile, r * Tile.SIDE + c, run, r * count, count);
            }
            writeRun(tileRows, count, (int) row, first);
        }
    }

    /**
     * As {@link #writeBits}, of a tile whose rows are the weight's columns.
     *
     * @param tile the upper left {@code [tileRows][tileColumns]}, which goes to {@code [tileColumns][tileRows]} of the layer
     */
    void writeTurnedBits(short[] tile, int tileRows, int tileColumns, long row, long column) {
        int count;
        for (int c = 0; c < tileRows; c += count) {
            int first = (int) column + c;
            count = Math.min(tileRows - c, layout.runEnd(columns, first) - first);
            if (count == WeightLayout.PANEL && layout.isPaired(dtype, columns, first)) {
                turnPairs(tile, c, tileColumns);
                writePairs(tileColumns, (int) row, first);
            } else {
                turn(tile, c, count, tileColumns);
                writeRun(tileColumns, count, (int) row, first);
            }
        }
    }

    private void turn(short[] tile, int firstRow, int tileRows, int tileColumns) {
        for (int r = 0; r < tileRows; r++) {
            for (int c = 0; c < tileColumns; c++) {
                run[c * tileRows + r] = tile[(firstRow + r) * Tile.SIDE + c];
            }
        }
    }

    /** A panel's columns, those that lie side by side in one step: half the stores. */
    private void turnPairs(short[] tile, int firstRow, int tileColumns) {
        for (int pair = 0; pair < PAIRS; pair++) {
            int low = (firstRow + pair) * Tile.SIDE;
            int high = low + PAIRS * Tile.SIDE;
            for (int c = 0; c < tileColumns; c++) {
                pairs[c * PAIRS + pair] = Short.toUnsignedInt(tile[low + c]) | tile[high + c] << Short.SIZE;
            }
        }
    }

    /** Writes {@link #run}: columns that lie together in each row, of {@code rows} rows from {@code (row, column)} on. */
    private void writeRun(int rows, int count, int row, int column) {
        if (!layout.isPaired(dtype, columns, column)) {
            writeRows(rows, count, row, column);
        } else if (count == WeightLayout.PANEL) {
            for (int r = 0; r < rows; r++) {
                for (int pair = 0; pair < PAIRS; pair++) {
                    int at = r * count + pair;
                    pairs[r * PAIRS + pair] = Short.toUnsignedInt(run[at]) | run[at + PAIRS] << Short.SIZE;
                }
            }
            writePairs(rows, row, column);
        } else {
            for (int r = 0; r < rows; r++) {
                for (int i = 0; i < count; i++) {
                    elements.set(
                            SHORTS, index(dtype, this.rows, row + r, column + i) * Short.BYTES, run[r * count + i]);
                }
            }
        }
    }

    private void writeRows(int rows, int count, int row, int column) {
        int rowsAtOnce = isWholeRun(column, count) ? rows : 1;
        for (int r = 0; r < rows; r += rowsAtOnce) {
            long to = index(dtype, this.rows, row + r, column) * Short.BYTES;
            MemorySegment.copy(run, r * count, elements, SHORTS, to, rowsAtOnce * count);
        }
    }

    /** Whether columns are all that lie together in a row, so that the next row lies behind them. */
    private boolean isWholeRun(int column, int count) {
        return count == layout.runEnd(columns, column) - layout.runStart(column);
    }

    /** Rows of a panel lie one behind the other. */
    private void writePairs(int rows, int row, int column) {
        long to = index(dtype, this.rows, row, column) * Short.BYTES;
        MemorySegment.copy(pairs, 0, elements, INTS, to, rows * PAIRS);
    }

    private void writeQuantized(float[] tile, int tileRows, int tileColumns, long row, long column) {
        int blocks = Math.ceilDiv(rows, DType.BLOCK);
        for (int first = 0; first < tileRows; first += DType.BLOCK) {
            int height = Math.min(DType.BLOCK, tileRows - first);
            Int8Quantizer.quantizeBlock(tile, first, height, tileColumns, quantized, blockScales);
            long block = (row + first) / DType.BLOCK;
            forEachRun(1, tileColumns, block, column, (from, r, c, count) -> {
                long to = index(DType.F32, blocks, r, c) * Float.BYTES;
                MemorySegment.copy(blockScales, from, scales, FLOATS, to, count);
            });
        }
        int count;
        for (int c = 0; c < tileColumns; c += count) {
            int first = (int) column + c;
            count = Math.min(tileColumns - c, layout.runEnd(columns, first) - first);
            int rowsAtOnce = isWholeRun(first, count) ? tileRows : 1;
            for (int r = 0; r < tileRows; r++) {
                System.arraycopy(quantized, r * Tile.SIDE + c, quantizedRun, r * count, count);
            }
            for (int r = 0; r < tileRows; r += rowsAtOnce) {
                long to = index(dtype, rows, (int) row + r, first);
                MemorySegment.copy(quantizedRun, r * count, elements, ValueLayout.JAVA_BYTE, to, rowsAtOnce * count);
            }
        }
    }

    /** Takes columns of one row of a tile that lie together in the weight. */
    @FunctionalInterface
    private interface RunWriter {
        /**
         * @param from index of the first element in the tile
         * @param row of the weight
         * @param column of the weight
         */
        void write(int from, int row, int column, int count);
    }

    private void forEachRun(int tileRows, int tileColumns, long row, long column, RunWriter writer) {
        int count;
        for (int c = 0; c < tileColumns; c += count) {
            int first = (int) column + c;
            count = Math.min(tileColumns - c, layout.runEnd(columns, first) - first);
            for (int r = 0; r < tileRows; r++) {
                writer.write(r * Tile.SIDE + c, (int) row + r, first, count);
            }
        }
    }

    private long index(DType type, int height, int row, int column) {
        return layout.index(type, height, columns, row, column);
    }

    /** Without branches in the loop, so that it runs at the speed of the conversion. */
    private void countOverflows(float[] tile, int tileRows, int tileColumns, int limit) {
        int found = 0;
        for (int r = 0; r < tileRows; r++) {
            for (int c = 0; c < tileColumns; c++) {
                int magnitude = Float.floatToRawIntBits(tile[r * Tile.SIDE + c]) & MAGNITUDE;
                found += (limit - 1 - magnitude & magnitude - INFINITY_BITS) >>> Integer.SIZE - 1;
            }
        }
        overflows += found;
    }
}
