package io.github.tornadotransformers.kernels;

import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * How keys and values are kept: {@link WeightFormat#F32} in a {@code FloatArray}, or {@link WeightFormat#BF16} and {@link
 * WeightFormat#F16} in a {@code ShortArray}, rounded to nearest even when they are stored and widened exactly when they are read.
 * A kernel takes both arrays, and the format as a scalar, as {@link WeightFormat} says. NaN becomes infinite.
 *
 * <p>A device has no view of a float's bits. Its exponent is searched for among powers of two; scaled by the power's inverse, which
 * is exact, and by the weight of the last bit, the number is rounded to an integer where it joins one so large that it has no bits
 * behind the point.
 */
public final class KvFormat {
    private static final int BF16_FIELDS = 1 << 8;
    private static final int BF16_BIAS = 127;
    private static final int BF16_BINADE = 1 << 7;

    private static final int F16_FIELDS = 1 << 5;
    private static final int F16_BIAS = 15;
    private static final int F16_BINADE = 1 << 10;

    /** What makes the pattern of a short a number that is not negative. */
    private static final int PATTERN = 0xFFFF;

    /** What turns a positive pattern of 16 bits, read as a short, into that with the sign bit. */
    private static final int SIGN = 1 << 15;

    /** The last bit of a float of this size weighs one. */
    private static final float NO_FRACTION = 0x1.8p23f;

    private KvFormat() {}

    /**
     * What a kernel that stores needs: by exponent field the powers of two at which its numbers begin, then their inverses. The last
     * field begins at infinity.
     */
    public static FloatArray bounds(int format) {
        return switch (format) {
            case WeightFormat.BF16 -> bounds(BF16_FIELDS, BF16_BIAS);
            case WeightFormat.F16 -> bounds(F16_FIELDS, F16_BIAS);
            default -> new FloatArray(1);
        };
    }

    private static FloatArray bounds(int fields, int bias) {
        FloatArray bounds = new FloatArray(2 * fields);
        bounds.init(Float.POSITIVE_INFINITY);
        for (int field = 1; field < fields - 1; field++) {
            bounds.set(field, Math.scalb(1f, field - bias));
            bounds.set(fields + field, Math.scalb(1f, bias - field));
        }
        return bounds;
    }

    /** @param powers {@link WeightFormat#powers} */
    static float load(int format, FloatArray floats, ShortArray shorts, FloatArray powers, int index) {
        return format == WeightFormat.F32
                ? floats.get(index)
                : WeightFormat.widen(format, shorts.get(index) & PATTERN, powers);
    }

    /** The number that was loaded as a float, or as a short. */
    static float value(int format, float number, int bits, FloatArray powers) {
        return format == WeightFormat.F32 ? number : WeightFormat.widen(format, bits & PATTERN, powers);
    }

    /** @param bounds {@link #bounds} */
    static void store(int format, FloatArray floats, ShortArray shorts, FloatArray bounds, int index, float value) {
        if (format == WeightFormat.F32) {
            floats.set(index, value);
        } else if (format == WeightFormat.BF16) {
            shorts.set(index, narrow(value, bounds, BF16_FIELDS, BF16_BINADE));
        } else {
            shorts.set(index, narrow(value, bounds, F16_FIELDS, F16_BINADE));
        }
    }

    /**
     * Comparisons with NaN come out as in Java where they are written as "less than", and are not joined: TornadoVM 5.2 turns others
     * round, and loses the bracket in {@code a || b && c}.
     */
    private static short narrow(float value, FloatArray bounds, int fields, int binade) {
        float signed = value == 0f ? 1f / value : value;
        float magnitude = signed < 0f ? -value : value;
        int field = 0;
        int half = fields;
        for (int i = 1; i < fields; i += i) {
            half = half / 2;
            field = magnitude < bounds.get(field + half) ? field : field + half;
        }
        field = Math.min(Math.max(field, 1), fields - 2);
        float scaled = magnitude * bounds.get(fields + field);
        // The next power of two is infinite where there is no field for it.
        float bounded = scaled < 2f ? scaled : 2f;
        int significand = (int) (Fused.fma(bounded, binade, NO_FRACTION) - NO_FRACTION);
        int pattern = (field - 1) * binade + significand;
        return (short) (signed < 0f ? pattern - SIGN : pattern);
    }
}
