package io.github.tornadotransformers.models.checkpoint;

/**
 * One column's group of a block format: read from a file, and written to memory or as floats. For one thread.
 *
 * <p>Source: {@code gguf-py/gguf/quants.py} of github.com/ggml-org/llama.cpp.
 */
final class QuantizedGroup {
    private static final int PANEL = WeightLayout.PANEL;
    private static final int NIBBLE_BITS = 4;
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
        readScales(file, at);
        int quantsAt = at + fileQuantsAt();
        switch (format) {
            case Q4_0, Q4_1, Q4_K -> readNibbles(file, quantsAt);
            case Q5_0, Q5_1 -> {
                readNibbles(file, quantsAt);
                readFifthBits(file, quantsAt - 4);
            }
            case Q8_0 -> {
                for (int row = 0; row < format.groupRows(); row++) {
                    quants[row] = file[quantsAt + row];
                }
            }
            case Q5_K -> {
                readNibbles(file, quantsAt);
                for (int row = 0; row < format.groupRows(); row++) {
                    quants[row] |= (unsigned(file, at + 16 + row % 32) >> row / 32 & 1) << 4;
                }
            }
            case Q6_K -> readSixBits(file, at);
        }
    }

    private void readScales(byte[] file, int at) {
        switch (format) {
            case Q4_K, Q5_K -> readTwoLevels(file, at);
            case Q6_K -> {
                for (int block = 0; block < format.blocks(); block++) {
                    scales[block] = file[at + 192 + block];
                }
                scale = half(file, at + 208);
            }
            default -> {
                scale = half(file, at);
                minimum = format.hasMinimum() ? half(file, at + 2) : 0f;
            }
        }
    }

    /** Where the bytes of quants, or of their lower four bits, lie in a file's group. */
    private int fileQuantsAt() {
        return switch (format) {
            case Q4_0, Q8_0 -> 2;
            case Q4_1 -> 4;
            case Q5_0 -> 6;
            case Q5_1 -> 8;
            case Q4_K -> 16;
            case Q5_K -> 48;
            case Q6_K -> 0;
        };
    }

    /** Rows whose nibbles are the lower halves of a file's bytes; those of the next as many are the upper ones. */
    private int nibbleRun() {
        return format.isTwoLevel() ? 32 : 16;
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

    private void readNibbles(byte[] file, int at) {
        int run = nibbleRun();
        for (int first = 0; first < format.groupRows(); first += 2 * run) {
            for (int i = 0; i < run; i++) {
                int pair = unsigned(file, at + first / 2 + i);
                quants[first + i] = pair & NIBBLE;
                quants[first + run + i] = pair >> 4;
            }
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

    /** Reads a group as a file has it, and writes it to its place among those of a panel's columns. */
    void copy(byte[] file, int at, byte[] panel, int column) {
        int quantsAt = format.quantsAt() + column;
        if (format.bits() == Byte.SIZE) {
            readScales(file, at);
            int from = at + fileQuantsAt();
            for (int row = 0; row < format.groupRows(); row++) {
                panel[quantsAt + row * PANEL] = file[from + row];
            }
        } else if (format.bits() == NIBBLE_BITS) {
            readScales(file, at);
            copyNibbles(file, at + fileQuantsAt(), panel, quantsAt);
        } else {
            read(file, at);
            packQuants(panel, quantsAt);
            packHighBits(panel, format.highAt() + column);
        }
        packScales(panel, column);
    }

    /** Of two neighbouring bytes the lower halves are those of two neighbouring rows, and so are the upper ones. */
    private void copyNibbles(byte[] file, int at, byte[] panel, int to) {
        int run = nibbleRun();
        for (int first = 0; first < format.groupRows(); first += 2 * run) {
            for (int i = 0; i < run; i += 2) {
                int even = unsigned(file, at + first / 2 + i);
                int odd = unsigned(file, at + first / 2 + i + 1);
                panel[to + (first + i) / 2 * PANEL] = (byte) (even & NIBBLE | odd << 4);
                panel[to + (first + run + i) / 2 * PANEL] = (byte) (even >> 4 | odd & ~NIBBLE);
            }
        }
    }

    private void packScales(byte[] panel, int column) {
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
    }

    private void packQuants(byte[] panel, int at) {
        for (int pair = 0; pair < format.groupRows() / 2; pair++) {
            panel[at + pair * PANEL] = (byte) (quants[2 * pair] & NIBBLE | (quants[2 * pair + 1] & NIBBLE) << 4);
        }
    }

    private static void putFloat(byte[] panel, int at, float value) {
        int bits = Float.floatToRawIntBits(value);
        for (int i = 0; i < Float.BYTES; i++) {
            panel[at + i] = (byte) (bits >> i * Byte.SIZE);
        }
    }

    private void packHighBits(byte[] panel, int at) {
        int bits = format.bits() - NIBBLE_BITS;
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
