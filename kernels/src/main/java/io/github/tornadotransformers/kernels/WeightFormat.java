package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.types.BFloat16;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * How a kernel reads an element of a weight: float32 in a {@code FloatArray}, all else in words of 32 bits in an {@code IntArray}, the first
 * element in the lowest bits. A kernel takes both arrays and the format as a scalar: scalars are constants when a device
 * compiles, so that one loop serves all formats and only one branch remains in each kernel. The other array holds one element,
 * which nothing reads.
 */
public final class WeightFormat {
    /** Elements in the {@code FloatArray}. */
    public static final int F32 = 0;

    /** Upper halves of float32, two in a word. */
    public static final int BF16 = 1;

    /** IEEE binary16, two in a word. */
    public static final int F16 = 2;

    /** Signed integers, four in a word; {@link #INT8_BLOCK} rows share a scale. */
    public static final int INT8 = 3;

    /** As {@link #BF16}, for a compiler that can take bits for a float: that of CUDA alone. NaN stays NaN. */
    public static final int BF16_BITS = 4;

    /** Rows of an INT8 matrix that share a scale. */
    public static final int INT8_BLOCK = 32;

    /** Significands of a binade: 2 to the stored mantissa's bits. */
    private static final int BF16_BINADE = 1 << 7;

    private static final int F16_BINADE = 1 << 10;

    private static final int HALF_BITS = 16;
    private static final int HALF = 0xFFFF;
    private static final int OCTET_BITS = 8;
    private static final int OCTET = 0xFF;

    /** Of a half: everything but the sign. */
    private static final int MAGNITUDE = 0x7FFF;

    /** Of an octet: the sign. */
    private static final int OCTET_SIGN = 1 << 7;

    private WeightFormat() {}

    /**
     * The powers of two that {@link #element} needs for a format: the weight of a mantissa's last bit, by exponent field, first of
     * positive numbers, then of negative ones.
     */
    public static FloatArray powers(int format) {
        return switch (format) {
            case BF16 -> powers(256, -133);
            case F16 -> powers(32, -24);
            default -> new FloatArray(1);
        };
    }

    /** Exponent fields 0 (subnormal) and 1 share the least power; the last is infinite. */
    private static FloatArray powers(int fields, int least) {
        FloatArray powers = new FloatArray(2 * fields);
        for (int field = 0; field < fields; field++) {
            float power =
                    field == fields - 1 ? Float.POSITIVE_INFINITY : Math.scalb(1f, least + Math.max(field - 1, 0));
            powers.set(field, power);
            powers.set(fields + field, -power);
        }
        return powers;
    }

    /** Elements of a word. */
    public static int perWord(int format) {
        return format == F32 ? 1 : format == INT8 ? Integer.SIZE / OCTET_BITS : Integer.SIZE / HALF_BITS;
    }

    /** The element at {@code index} as float32, exactly; for INT8 the integer without its scale. NaN widens to infinity. */
    static float element(int format, FloatArray floats, IntArray words, FloatArray powers, int index) {
        // Known not to be negative, so that a quotient is a shift.
        int at = index & Integer.MAX_VALUE;
        float value;
        if (format == F32) {
            value = floats.get(index);
        } else {
            value = part(format, words.get(at / perWord(format)), at % perWord(format), powers);
        }
        return value;
    }

    /** The element at a place of a word, as {@link #element} has it. */
    static float part(int format, int word, int place, FloatArray powers) {
        return format == INT8 ? octet(word, place * OCTET_BITS) : half(format, word, place * HALF_BITS, powers);
    }

    /** The number of 16 bits of a word, from bit {@code shift}. */
    static float half(int format, int word, int shift, FloatArray powers) {
        return format == BF16_BITS
                ? BFloat16.bf16ToFloat((short) (word >> shift))
                : widen(format, (word >> shift) & HALF, powers);
    }

    /** The integer of 8 bits of a word, from bit {@code shift}. */
    static float octet(int word, int shift) {
        int bits = (word >> shift) & OCTET;
        return (bits ^ OCTET_SIGN) - OCTET_SIGN;
    }

    /**
     * The number of a pattern of 16 bits, which is not negative. Its sign and exponent field are where its power is; a number
     * without a hidden bit has an exponent field of 0.
     */
    static float widen(int format, int pattern, FloatArray powers) {
        int binade = format == F16 ? F16_BINADE : BF16_BINADE;
        int mantissa = pattern & (binade - 1);
        int hidden = Math.min((pattern & MAGNITUDE) - mantissa, binade);
        return powers.get(pattern / binade) * (mantissa + hidden);
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
