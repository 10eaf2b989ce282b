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
    private final long columns;
    private final MemorySegment elements;
    private final MemorySegment scales;
    private final short[] narrowed;
    private final byte[] quantized;
    private final float[] blockScales;
    private long overflows;

    TileSink(WeightData data, int layer) {
        this.dtype = data.dtype();
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
            case F32 -> {
                for (int r = 0; r < tileRows; r++) {
                    long offset = ((row + r) * columns + column) * Float.BYTES;
                    MemorySegment.copy(tile, r * Tile.SIDE, elements, FLOATS, offset, tileColumns);
                }
            }
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
        for (int r = 0; r < tileRows; r++) {
            long offset = ((row + r) * columns + column) * Short.BYTES;
            MemorySegment.copy(tile, r * Tile.SIDE, elements, SHORTS, offset, tileColumns);
        }
    }

    private void writeQuantized(float[] tile, int tileRows, int tileColumns, long row, long column) {
        for (int first = 0; first < tileRows; first += DType.BLOCK) {
            int rows = Math.min(DType.BLOCK, tileRows - first);
            Int8Quantizer.quantizeBlock(tile, first, rows, tileColumns, quantized, blockScales);
            long block = (row + first) / DType.BLOCK;
            MemorySegment.copy(blockScales, 0, scales, FLOATS, (block * columns + column) * Float.BYTES, tileColumns);
        }
        for (int r = 0; r < tileRows; r++) {
            long offset = (row + r) * columns + column;
            MemorySegment.copy(quantized, r * Tile.SIDE, elements, ValueLayout.JAVA_BYTE, offset, tileColumns);
        }
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
