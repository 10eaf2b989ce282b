package uk.ac.manchester.tornado.api.types;

/** The upper halves of float32. */
public final class BFloat16 {
    private BFloat16() {}

    /** The float whose upper half is {@code bits}; CUDA's backend alone compiles it to a single instruction. */
    public static float bf16ToFloat(short bits) {
        return Float.intBitsToFloat(bits << Short.SIZE);
    }
}
