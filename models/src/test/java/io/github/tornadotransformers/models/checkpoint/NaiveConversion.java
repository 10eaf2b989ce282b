package io.github.tornadotransformers.models.checkpoint;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Conversions one element at a time, by other means than the loader's. */
final class NaiveConversion {
    private NaiveConversion() {}

    /** What a value is after it was stored as a type. */
    static float stored(float value, StoredType type) {
        return switch (type) {
            case F64, F32 -> value;
            case F16 -> Float.float16ToFloat(Float.floatToFloat16(value));
            case BF16 -> bfloat16(value);
        };
    }

    /** What a value is after it was kept as a type without blocks. */
    static float kept(float value, DType dtype) {
        return switch (dtype) {
            case F32 -> value;
            case F16 -> Float.float16ToFloat(Float.floatToFloat16(value));
            case BF16 -> bfloat16(value);
            case INT8, STORED -> throw new IllegalArgumentException("needs its block");
        };
    }

    /** The nearer of the two bfloat16 neighbours, of two equally near ones that with an even last bit. */
    static float bfloat16(float value) {
        if (!Float.isFinite(value)) {
            return value;
        }
        float below = Float.intBitsToFloat(Float.floatToIntBits(value) & 0xFFFF_0000);
        int belowBits = Float.floatToIntBits(below) >>> 16;
        float above = Float.intBitsToFloat(belowBits + 1 << 16);
        double toBelow = Math.abs((double) value - below);
        double toAbove = Math.abs((double) above - value);
        boolean takesBelow = toBelow < toAbove || toBelow == toAbove && belowBits % 2 == 0;
        return takesBelow ? below : above;
    }

    /** The scale of a block of one column. */
    static float scale(float[] block) {
        float max = 0;
        for (float value : block) {
            max = Math.abs(value) > max ? Math.abs(value) : max;
        }
        return (float) ((double) max / 127);
    }

    /** A quantized weight; the float quotient is rounded as a decimal number. */
    static int quantized(float weight, float scale) {
        if (scale == 0) {
            return 0;
        }
        float quotient = (float) ((double) weight / (double) scale);
        int rounded =
                new BigDecimal(quotient).setScale(0, RoundingMode.HALF_EVEN).intValueExact();
        return rounded > 127 ? 127 : rounded < -127 ? -127 : rounded;
    }
}
