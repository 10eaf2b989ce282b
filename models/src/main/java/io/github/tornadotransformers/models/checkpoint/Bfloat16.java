package io.github.tornadotransformers.models.checkpoint;

/** The upper half of a float32: sign, eight bits of exponent, seven of mantissa. */
public final class Bfloat16 {
    private static final int INFINITY_BITS = 0x7F80_0000;
    private static final int MAGNITUDE = 0x7FFF_FFFF;
    private static final int QUIET_NAN = 0x0040;

    private Bfloat16() {}

    /** Exact. */
    public static float toFloat(short bits) {
        return Float.intBitsToFloat(bits << Short.SIZE);
    }

    /** Rounds to nearest, ties to even; what is beyond the largest finite value becomes infinite, NaN stays NaN. */
    public static short ofFloat(float value) {
        int bits = Float.floatToRawIntBits(value);
        int rounded = (bits + 0x7FFF + (bits >>> Short.SIZE & 1)) >>> Short.SIZE;
        int nan = bits >>> Short.SIZE | QUIET_NAN;
        return (short) ((bits & MAGNITUDE) > INFINITY_BITS ? nan : rounded);
    }
}
