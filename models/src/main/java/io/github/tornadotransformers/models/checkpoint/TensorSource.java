package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads runs of a stored tensor's elements as floats, at most a tile's side at a time. For one thread. */
final class TensorSource {
    private static final ValueLayout.OfDouble DOUBLES =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOATS =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORTS =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final StoredType type;
    private final MemorySegment elements;
    private final double[] doubles;
    private final short[] halves;
    private long overflows;

    TensorSource(StoredType type, MemorySegment elements) {
        this.type = type;
        this.elements = elements;
        this.doubles = new double[type == StoredType.F64 ? Tile.SIDE : 0];
        this.halves = new short[type.bytes() == Short.BYTES ? Tile.SIDE : 0];
    }

    /** How many finite doubles became infinite. */
    long overflows() {
        return overflows;
    }

    /** {@code floats[at .. at + count)} = the elements from index {@code first} on; at most {@link Tile#SIDE}. */
    void read(long first, float[] floats, int at, int count) {
        long offset = first * type.bytes();
        switch (type) {
            case F64 -> {
                MemorySegment.copy(elements, DOUBLES, offset, doubles, 0, count);
                for (int i = 0; i < count; i++) {
                    floats[at + i] = narrow(doubles[i]);
                }
            }
            case F32 -> MemorySegment.copy(elements, FLOATS, offset, floats, at, count);
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
    void readBits(long first, short[] bits, int at, int count) {
        MemorySegment.copy(elements, SHORTS, first * Short.BYTES, bits, at, count);
    }

    private float narrow(double value) {
        float narrowed = (float) value;
        if (Float.isInfinite(narrowed) && Double.isFinite(value)) {
            overflows++;
        }
        return narrowed;
    }
}
