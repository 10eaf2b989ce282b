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
    private static final ValueLayout.OfShort SHORTS = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The smallest magnitudes, as float bits, that round to an infinity of the narrower type. */
    private static final int BF16_OVERFLOW = 0x7F7F_8000;

    private static final int F16_OVERFLOW = Float.floatToIntBits(65_520f);
    private static final int INFINITY_BITS = 0x7F80_0000;
    private static final int MAGNITUDE = 0x7FFF_FFFF;

    private final DType dtype;
    private final WeightLayout layout;
    private final int rows;
    private final int columns;
    private final MemorySegment elements;
    private final MemorySegment scales;
    private final short[] narrowed;
    private final byte[] quantized;
    private final float[] blockScales;
    private final short[] paired = new short[WeightLayout.PANEL];
    private long overflows;

    TileSink(WeightData data, int layer) {
        this.dtype = data.dtype();
        this.layout = data.layout();
        this.rows = data.weight().rows();
        this.columns = data.weight().columns();
        this.elements = data.layer(layer);
        this.scales = data.layerScales(layer);
        boolean quantizes = dtype == DType.INT8;
        this.narrowed = new short[dtype.bytes() == Short.BYTES ? Tile.ELEMENTS : 0];
        this.quantized = new byte[quantizes ? Tile.ELEMENTS : 0];
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
        }
    }

    /** As {@link #write}, of a tile of 16-bit elements that are of the weight's type already. */
    void writeBits(short[] tile, int tileRows, int tileColumns, long row, long column) {
        forEachRun(tileRows, tileColumns, row, column, (from, r, c, count) -> {
            if (!layout.isPaired(dtype, columns, c)) {
                MemorySegment.copy(tile, from, elements, SHORTS, index(dtype, rows, r, c) * Short.BYTES, count);
            } else if (count == WeightLayout.PANEL) {
                for (int i = 0; i < count; i++) {
                    paired[WeightLayout.pairedIndex(i)] = tile[from + i];
                }
                MemorySegment.copy(paired, 0, elements, SHORTS, index(dtype, rows, r, c) * Short.BYTES, count);
            } else {
                for (int i = 0; i < count; i++) {
                    elements.set(SHORTS, index(dtype, rows, r, c + i) * Short.BYTES, tile[from + i]);
                }
            }
        });
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
        forEachRun(tileRows, tileColumns, row, column, (from, r, c, count) -> {
            MemorySegment.copy(quantized, from, elements, ValueLayout.JAVA_BYTE, index(dtype, rows, r, c), count);
        });
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
