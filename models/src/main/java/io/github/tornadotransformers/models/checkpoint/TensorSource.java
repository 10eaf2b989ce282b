package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reads runs of a stored tensor's elements as floats, at most a tile's side at a time, from a window of the tensor that is in
 * memory. For one thread.
 */
final class TensorSource {
    private static final ValueLayout.OfDouble DOUBLES =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOATS =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORTS =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Bytes of the window at most: what stays in a core's cache. */
    private static final int WINDOW = 1 << 20;

    private final StoredType type;
    private final TensorBytes tensor;
    private final MemorySegment window;
    private final double[] doubles;
    private final short[] halves;
    private long overflows;

    /**
     * @param elements of the whole tensor
     * @param arena of the window
     */
    TensorSource(StoredType type, TensorBytes tensor, long elements, Arena arena) {
        this.type = type;
        this.tensor = tensor;
        this.window = arena.allocate(Math.min(WINDOW, elements * type.bytes()), Long.BYTES);
        this.doubles = new double[type == StoredType.F64 ? Tile.SIDE : 0];
        this.halves = new short[type.bytes() == Short.BYTES ? Tile.SIDE : 0];
    }

    /** How many finite doubles became infinite. */
    long overflows() {
        return overflows;
    }

    /** How many elements of each of {@link Tile#SIDE} rows the window holds. */
    int windowWidth() {
        return WINDOW / (Tile.SIDE * type.bytes());
    }

    /**
     * Brings a part of the tensor {@code [rows][columns]} into the window: {@code [height][width]}, row-major.
     *
     * @param width at most {@link #windowWidth}
     */
    void load(long firstRow, int height, long columns, long firstColumn, int width) {
        if (width == columns) {
            load(firstRow * columns, 0, height * width);
        } else {
            for (int row = 0; row < height; row++) {
                load((firstRow + row) * columns + firstColumn, row * width, width);
            }
        }
    }

    private void load(long first, int at, int count) {
        tensor.read(first * type.bytes(), window.asSlice((long) at * type.bytes(), (long) count * type.bytes()));
    }

    /**
     * {@code floats[at .. at + count)} = the elements from index {@code first} of the window on; at most {@link Tile#SIDE}.
     */
    void read(int first, float[] floats, int at, int count) {
        long offset = (long) first * type.bytes();
        switch (type) {
            case F64 -> {
                MemorySegment.copy(window, DOUBLES, offset, doubles, 0, count);
                for (int i = 0; i < count; i++) {
                    floats[at + i] = narrow(doubles[i]);
                }
            }
            case F32 -> MemorySegment.copy(window, FLOATS, offset, floats, at, count);
            case F16 -> {
                readBits(first, halves, 0, count);
                for (int i = 0; i < count; i++) {
                    floats[at + i] = Float.float16ToFloat(halves[i]);
                }
            }
            case BF16 -> {
                readBits(first, halves, 0, count);
                for (int i = 0; i < count; i++) {
                    floats[at + i] = Bfloat16.toFloat(halves[i]);
                }
            }
        }
    }

    /** Whether a type in memory has the same 16 bits, so that {@link #readBits} will do. */
    boolean isKeptBy(DType dtype) {
        return type.bytes() == Short.BYTES && type.widened() == dtype;
    }

    /** The bits of elements of 16 bits, as {@link #read}. */
    void readBits(int first, short[] bits, int at, int count) {
        MemorySegment.copy(window, SHORTS, (long) first * Short.BYTES, bits, at, count);
    }

    private float narrow(double value) {
        float narrowed = (float) value;
        if (Float.isInfinite(narrowed) && Double.isFinite(value)) {
            overflows++;
        }
        return narrowed;
    }
}
