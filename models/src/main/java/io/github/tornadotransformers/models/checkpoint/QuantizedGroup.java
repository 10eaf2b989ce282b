package io.github.tornadotransformers.models.checkpoint;

/**
 * One column's group of a block format: read from a file, and written to memory or as floats. For one thread.
 *
 * <p>Source: {@code gguf-py/gguf/quants.py} of github.com/ggml-org/llama.cpp.
 */
final class QuantizedGroup {
    private static final int PANEL = WeightLayout.PANEL;
    private static final int NIBBLE = 0xF;
    private static final int SIX_BITS = 0x3F;

    private final BlockFormat format;
    private final int[] quants = new int[BlockFormat.MAX_GROUP];
    private final int[] scales = new int[BlockFormat.MAX_GROUP / 16];
    private final int[] minima = new int[BlockFormat.MAX_GROUP / 16];
    private float scale;
    private float minimum;

    QuantizedGroup(BlockFormat format) {
        this.format = format;
    }

    /** Reads a group as a file has it. */
    void read(byte[] file, int at) {
        switch (format) {
            case Q4_0 -> {
                readScales(file, at, false);
                readNibbles(file, at + 2, 0, 16);
            }
            case Q4_1 -> {
                readScales(file, at, true);
                readNibbles(file, at + 4, 0, 16);
            }
            case Q5_0 -> {
                readScales(file, at, false);
                readNibbles(file, at + 6, 0, 16);
                readFifthBits(file, at + 2);
            }
            case Q5_1 -> {
                readScales(file, at, true);
                readNibbles(file, at + 8, 0, 16);
                readFifthBits(file, at + 4);
            }
            case Q8_0 -> {
                readScales(file, at, false);
                for (int row = 0; row < format.groupRows(); row++) {
                    quants[row] = file[at + 2 + row];
                }
            }
            case Q4_K -> {
                readTwoLevels(file, at);
                readNibbles(file, at + 16);
            }
            case Q5_K -> {
                readTwoLevels(file, at);
                readNibbles(file, at + 48);
                for (int row = 0; row < format.groupRows(); row++) {
                    quants[row] |= (unsigned(file, at + 16 + row % 32) >> row / 32 & 1) << 4;
                }
            }
            case Q6_K -> readSixBits(file, at);
        }
    }

    /** Of a row, without its offset. */
    int quant(int row) {
        return quants[row];
    }

    float scale() {
        return scale;
    }

    float minimum() {
        return minimum;
    }

    /** By which a block's scale is the group's. */
    int blockInteger(int block) {
        return scales[block];
    }

    /** By which a block's minimum is the group's. */
    int minimumInteger(int block) {
        return minima[block];
    }

    private static int unsigned(byte[] file, int at) {
        return Byte.toUnsignedInt(file[at]);
    }

    private static float half(byte[] file, int at) {
        return Float.float16ToFloat((short) (unsigned(file, at) | file[at + 1] << Byte.SIZE));
    }

    private void readScales(byte[] file, int at, boolean hasMinimum) {
        scale = half(file, at);
        minimum = hasMinimum ? half(file, at + 2) : 0f;
    }

    /** Rows {@code [first, first + count)} in lower halves, the next as many in upper ones. */
    private void readNibbles(byte[] file, int at, int first, int count) {
        for (int i = 0; i < count; i++) {
            int pair = unsigned(file, at + i);
            quants[first + i] = pair & NIBBLE;
            quants[first + count + i] = pair >> 4;
        }
    }

    private void readNibbles(byte[] file, int at) {
        for (int first = 0; first < format.groupRows(); first += 64) {
            readNibbles(file, at + first / 2, first, 32);
        }
    }

    private void readFifthBits(byte[] file, int at) {
        for (int row = 0; row < format.groupRows(); row++) {
            quants[row] |= (unsigned(file, at + row / 8) >> row % 8 & 1) << 4;
        }
    }

    /** A scale and a minimum, which is subtracted, and eight of each of six bits in twelve bytes. */
    private void readTwoLevels(byte[] file, int at) {
        scale = half(file, at);
        minimum = -half(file, at + 2);
        for (int block = 0; block < 4; block++) {
            int low = unsigned(file, at + 4 + block);
            int high = unsigned(file, at + 8 + block);
            int rest = unsigned(file, at + 12 + block);
            scales[block] = low & SIX_BITS;
            minima[block] = high & SIX_BITS;
            scales[block + 4] = rest & NIBBLE | low >> 6 << 4;
            minima[block + 4] = rest >> 4 | high >> 6 << 4;
        }
    }

    private void readSixBits(byte[] file, int at) {
        for (int row = 0; row < format.groupRows(); row++) {
            int half = row / 128;
            int run = row / 32 % 4;
            int low = unsigned(file, at + 64 * half + 32 * (run % 2) + row % 32) >> 4 * (run / 2) & NIBBLE;
            int high = unsigned(file, at + 128 + 32 * half + row % 32) >> 2 * run & 3;
            quants[row] = low | high << 4;
        }
        for (int block = 0; block < format.blocks(); block++) {
            scales[block] = file[at + 192 + block];
        }
        scale = half(file, at + 208);
    }

    private float blockScale(int block) {
        return format.isTwoLevel() ? scale * scales[block] : scale;
    }

    private float blockMinimum(int block) {
        return format.isTwoLevel() ? minimum * minima[block] : minimum;
    }

    /** The weights, each rounded once: the products are exact. */
    void widen(float[] to, int first) {
        for (int row = 0; row < format.groupRows(); row++) {
            int block = row / format.blockRows();
            float product = (quants[row] - format.offset()) * blockScale(block);
            to[first + row] = format.hasMinimum() ? product + blockMinimum(block) : product;
        }
    }

    /** Writes the group to its place among those of a panel's columns. */
    void pack(byte[] panel, int column) {
        putFloat(panel, column * Float.BYTES, scale);
        if (format.hasMinimum()) {
            putFloat(panel, format.minimaAt() + column * Float.BYTES, minimum);
        }
        for (int block = 0; format.isTwoLevel() && block < format.blocks(); block++) {
            panel[format.scaleAt(block) + column] = (byte) scales[block];
            if (format.hasMinimum()) {
                panel[format.minimumAt(block) + column] = (byte) minima[block];
            }
        }
        int quantsAt = format.quantsAt() + column;
        if (format.bits() == Byte.SIZE) {
            for (int row = 0; row < format.groupRows(); row++) {
                panel[quantsAt + row * PANEL] = (byte) quants[row];
            }
            return;
        }
        for (int pair = 0; pair < format.groupRows() / 2; pair++) {
            panel[quantsAt + pair * PANEL] = (byte) (quants[2 * pair] & NIBBLE | (quants[2 * pair + 1] & NIBBLE) << 4);
        }
        packHighBits(panel, format.highAt() + column);
    }

    private static void putFloat(byte[] panel, int at, float value) {
        int bits = Float.floatToRawIntBits(value);
        for (int i = 0; i < Float.BYTES; i++) {
            panel[at + i] = (byte) (bits >> i * Byte.SIZE);
        }
    }

    private void packHighBits(byte[] panel, int at) {
        int bits = format.bits() - 4;
        if (bits == 0) {
            return;
        }
        int together = format.rowsOfHighByte();
        for (int row = 0; row < format.groupRows(); row += together) {
            int high = 0;
            for (int i = 0; i < together; i++) {
                high |= quants[row + i] >> 4 << i * bits;
            }
            panel[at + row / together * PANEL] = (byte) high;
        }
    }
}
