package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.KvType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Keys or values as they are kept. The arrays are shared, not copied. */
sealed interface KvArray {
    ValueLayout.OfFloat FLOATS = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    ValueLayout.OfShort SHORTS = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** As they were computed. */
    @SuppressWarnings("ArrayRecordComponent") // compared by nobody
    record Floats(float[] elements) implements KvArray {}

    /** Rounded to 16 bits. */
    @SuppressWarnings("ArrayRecordComponent") // compared by nobody
    record Halves(short[] elements) implements KvArray {}

    static KvArray of(KvType type, int size) {
        return type == KvType.F32 ? new Floats(new float[size]) : new Halves(new short[size]);
    }

    default float get(KvType type, int index) {
        return switch (this) {
            case Floats floats -> floats.elements[index];
            case Halves halves -> type.widen(halves.elements[index]);
        };
    }

    /** {@code this[to + i] = from[offset + i * step]}, rounded, for {@code i < count}. */
    default void set(KvType type, int to, int count, float[] from, int offset, int step) {
        switch (this) {
            case Floats floats -> {
                for (int i = 0; i < count; i++) {
                    floats.elements[to + i] = from[offset + i * step];
                }
            }
            case Halves halves -> {
                for (int i = 0; i < count; i++) {
                    halves.elements[to + i] = type.narrow(from[offset + i * step]);
                }
            }
        }
    }

    default void copy(KvArray from) {
        switch (this) {
            case Floats floats
            when from instanceof Floats others ->
                System.arraycopy(others.elements, 0, floats.elements, 0, floats.elements.length);
            case Halves halves
            when from instanceof Halves others ->
                System.arraycopy(others.elements, 0, halves.elements, 0, halves.elements.length);
            default -> throw new IllegalArgumentException("arrays of two types");
        }
    }

    /**
     * Copies all elements, little-endian, to or from the beginning of {@code bytes}.
     *
     * @return how many bytes these are
     */
    default long move(MemorySegment bytes, boolean out) {
        return switch (this) {
            case Floats floats -> {
                int count = floats.elements.length;
                if (out) {
                    MemorySegment.copy(floats.elements, 0, bytes, FLOATS, 0, count);
                } else {
                    MemorySegment.copy(bytes, FLOATS, 0, floats.elements, 0, count);
                }
                yield (long) count * Float.BYTES;
            }
            case Halves halves -> {
                int count = halves.elements.length;
                if (out) {
                    MemorySegment.copy(halves.elements, 0, bytes, SHORTS, 0, count);
                } else {
                    MemorySegment.copy(bytes, SHORTS, 0, halves.elements, 0, count);
                }
                yield (long) count * Short.BYTES;
            }
        };
    }

    default void fill(KvType type, float value) {
        switch (this) {
            case Floats floats -> Arrays.fill(floats.elements, value);
            case Halves halves -> Arrays.fill(halves.elements, type.narrow(value));
        }
    }
}
