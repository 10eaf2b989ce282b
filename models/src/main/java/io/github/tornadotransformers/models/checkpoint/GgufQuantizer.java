package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.gguf.GgufTensorType;
import java.nio.ByteBuffer;

/**
 * Writes floats as elements of a GGUF file, bit for bit as the reference does.
 *
 * <p>Source: {@code gguf-py/gguf/quants.py} of github.com/ggml-org/llama.cpp.
 */
final class GgufQuantizer {
    private static final float LARGEST_BYTE = 127f;
    private static final float SMALLEST_NIBBLE = -8f;
    private static final int NIBBLE = 0xF;

    private GgufQuantizer() {}

    /**
     * Appends whole blocks.
     *
     * @param to little-endian
     * @return how many finite values became infinite
     */
    static int write(GgufTensorType type, float[] values, ByteBuffer to) {
        int overflows = 0;
        switch (type) {
            case F32 -> {
                for (float value : values) {
                    to.putFloat(value);
                }
            }
            case F16 -> {
                for (float value : values) {
                    overflows += putHalf(value, to);
                }
            }
            case BF16 -> {
                for (float value : values) {
                    short narrowed = Bfloat16.ofFloat(value);
                    overflows += Float.isInfinite(Bfloat16.toFloat(narrowed)) && Float.isFinite(value) ? 1 : 0;
                    to.putShort(narrowed);
                }
            }
            case Q8_0 -> {
                for (int block = 0; block < values.length; block += type.blockSize()) {
                    overflows += writeBytes(values, block, type.blockSize(), to);
                }
            }
            case Q4_0 -> {
                for (int block = 0; block < values.length; block += type.blockSize()) {
                    overflows += writeNibbles(values, block, type.blockSize(), to);
                }
            }
            default -> throw new IllegalArgumentException(type + " is not written");
        }
        return overflows;
    }

    private static int putHalf(float value, ByteBuffer to) {
        short half = Float.floatToFloat16(value);
        to.putShort(half);
        return Float.isInfinite(Float.float16ToFloat(half)) && Float.isFinite(value) ? 1 : 0;
    }

    private static int writeBytes(float[] values, int first, int size, ByteBuffer to) {
        float largest = 0f;
        for (int i = first; i < first + size; i++) {
            largest = Math.max(largest, Math.abs(values[i]));
        }
        float scale = largest / LARGEST_BYTE;
        float inverse = scale == 0f ? 0f : 1f / scale;
        int overflows = putHalf(scale, to);
        for (int i = first; i < first + size; i++) {
            to.put((byte) halvesAwayFromZero(values[i] * inverse));
        }
        return overflows;
    }

    private static float halvesAwayFromZero(float value) {
        float magnitude = Math.abs(value);
        float whole = (float) Math.floor(magnitude);
        float rounded = whole + (float) Math.floor(2 * (magnitude - whole));
        return Math.copySign(rounded, value);
    }

    private static int writeNibbles(float[] values, int first, int size, ByteBuffer to) {
        float largest = 0f;
        for (int i = first; i < first + size; i++) {
            largest = Math.abs(values[i]) > Math.abs(largest) ? values[i] : largest;
        }
        float scale = largest / SMALLEST_NIBBLE;
        float inverse = scale == 0f ? 0f : 1f / scale;
        int overflows = putHalf(scale, to);
        for (int i = first; i < first + size / 2; i++) {
            int low = nibble(values[i] * inverse);
            int high = nibble(values[i + size / 2] * inverse);
            to.put((byte) (low | high << 4));
        }
        return overflows;
    }

    private static int nibble(float value) {
        return Math.min(NIBBLE, (int) (value + 8.5f));
    }
}
