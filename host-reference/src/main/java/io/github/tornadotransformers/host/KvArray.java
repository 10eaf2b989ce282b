package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.KvType;
import java.util.Arrays;

/** Keys or values as they are kept. The arrays are shared, not copied. */
sealed interface KvArray {
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

    default void fill(KvType type, float value) {
        switch (this) {
            case Floats floats -> Arrays.fill(floats.elements, value);
            case Halves halves -> Arrays.fill(halves.elements, type.narrow(value));
        }
    }
}
