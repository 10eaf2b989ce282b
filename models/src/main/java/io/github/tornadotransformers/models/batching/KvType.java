package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.checkpoint.Bfloat16;

/**
 * How keys and values are kept: rounded to nearest even when they are stored, widened exactly when they are read. Arithmetic is
 * float32 whatever this says.
 */
public enum KvType {
    F32(Float.BYTES),
    BF16(Short.BYTES),
    F16(Short.BYTES);

    private final int bytes;

    KvType(int bytes) {
        this.bytes = bytes;
    }

    /** Bytes of an element. */
    public int bytes() {
        return bytes;
    }

    /** The bits of the nearest number of this type, the even one of two; of a type with 16. */
    public short narrow(float value) {
        return switch (this) {
            case BF16 -> Bfloat16.ofFloat(value);
            case F16 -> Float.floatToFloat16(value);
            case F32 -> throw new IllegalStateException("float32 is not narrowed");
        };
    }

    /** The number that {@link #narrow} gave the bits of. */
    public float widen(short bits) {
        return switch (this) {
            case BF16 -> Bfloat16.toFloat(bits);
            case F16 -> Float.float16ToFloat(bits);
            case F32 -> throw new IllegalStateException("float32 is not narrowed");
        };
    }
}
