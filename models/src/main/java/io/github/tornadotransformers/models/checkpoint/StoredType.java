package io.github.tornadotransformers.models.checkpoint;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** The element types of a safetensors file that a weight may have; each value's name is the format's own. */
public enum StoredType {
    F64(8),
    F32(4),
    F16(2),
    BF16(2);

    private final int bytes;

    StoredType(int bytes) {
        this.bytes = bytes;
    }

    public int bytes() {
        return bytes;
    }

    static Optional<StoredType> named(String dtype) {
        return Arrays.stream(values()).filter(type -> type.name().equals(dtype)).findFirst();
    }

    static String allNames() {
        return Arrays.stream(values()).map(StoredType::name).collect(Collectors.joining(", "));
    }

    /** The type in memory that holds every value of this one; float32 for F64, which it does not. */
    DType widened() {
        return switch (this) {
            case F64, F32 -> DType.F32;
            case F16 -> DType.F16;
            case BF16 -> DType.BF16;
        };
    }
}
