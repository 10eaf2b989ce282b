package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * How a kernel reads an element of a weight. A kernel takes an array of every kind and the format as a scalar: scalars are
 * constants when a device compiles, so that one loop serves all formats and only one branch remains in each kernel. The
 * arrays of other kinds hold one element, which nothing reads.
 */
public final class WeightFormat {
    /** Elements in the {@code FloatArray}. */
    public static final int F32 = 0;

    /** Upper halves of float32 in the {@code ShortArray}. */
    public static final int BF16 = 1;

    /** IEEE binary16 in the {@code ShortArray}. */
    public static final int F16 = 2;

    /** Signed integers in the {@code ByteArray}; {@link #INT8_BLOCK} rows share a scale. */
    public static final int INT8 = 3;

    /** Rows of an INT8 matrix that share a scale. */
    public static final int INT8_BLOCK = 32;

    /** Significands of a binade: 2 to the stored mantissa's bits. */
    private static final int BF16_BINADE = 1 << 7;

    private static final int F16_BINADE = 1 << 10;

    /** Of a 16-bit pattern: everything, and everything but the sign. */
    private static final int PATTERN = 0xFFFF;

    private static final int MAGNITUDE = 0x7FFF;

    private WeightFormat() {}

    /** The powers of two that {@link #element} needs for a format: the weight of a mantissa's last bit, by exponent field. */
    public static FloatArray powers(int format) {
        return switch (format) {
            case BF16 -> powers(256, -133);
            case F16 -> f16Powers();
            default -> new FloatArray(1);
        };
    }

    private static FloatArray f16Powers() {
        FloatArray powers = powers(32, -24);
        powers.set(31, Float.POSITIVE_INFINITY);
        return powers;
    }

    /** Exponent fields 0 (subnormal) and 1 share the least power. */
    private static FloatArray powers(int fields, int least) {
        FloatArray powers = new FloatArray(fields);
        for (int field = 0; field < fields; field++) {
            powers.set(field, Math.scalb(1f, least + Math.max(field - 1, 0)));
        }
        return powers;
    }

    /** The element at {@code index} as float32, exactly; for INT8 the integer without its scale. NaN widens to infinity. */
    static float element(
            int format, FloatArray floats, ShortArray shorts, ByteArray bytes, FloatArray powers, int index) {
        float value;
        if (format == F32) {
            value = floats.get(index);
        } else if (format == INT8) {
            value = bytes.get(index);
        } else {
            value = widen(format, shorts.get(index), powers);
        }
        return value;
    }

    /**
     * The number of 16 bits. Sign, exponent field and mantissa are those of a number that is never negative: its shifts are the
     * same on all backends.
     */
    static float widen(int format, short bits, FloatArray powers) {
        int binade = format == BF16 ? BF16_BINADE : F16_BINADE;
        int pattern = bits & PATTERN;
        int magnitude = pattern & MAGNITUDE;
        int field = magnitude / binade;
        int mantissa = magnitude & (binade - 1);
        int significand = field == 0 ? mantissa : mantissa + binade;
        float value = powers.get(field) * significand;
        return pattern > MAGNITUDE ? -value : value;
    }

    /** Rows whose products are summed before they are scaled: a format without scales has one block a slice. */
    static int block(int format) {
        return format == INT8 ? INT8_BLOCK : Slices.SIZE;
    }

    /** The scale of {@code row}'s block in a column; 1 where the format has none. */
    static float scale(int format, FloatArray scales, int firstBlock, int row, int columns, int column) {
        return format == INT8 ? scales.get((firstBlock + row / INT8_BLOCK) * columns + column) : 1f;
    }

    /** Blocks of an INT8 matrix of {@code rows}. */
    static int blocks(int rows) {
        return (rows + INT8_BLOCK - 1) / INT8_BLOCK;
    }
}
