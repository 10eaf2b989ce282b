package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A matrix {@code [rows][columns]} in a block format.
 *
 * @param data panels, as {@link BlockFormat} describes them
 */
public record BlockData(BlockFormat format, int rows, int columns, MemorySegment data) {
    private static final ValueLayout.OfFloat FLOATS = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int PANEL = WeightLayout.PANEL;
    private static final int NIBBLE = 0xF;

    /** Where the group of a row begins, in the panel of a column. */
    public long groupAt(int row, int column) {
        return column / PANEL * format.panelBytes(rows) + (long) (row / format.groupRows()) * format.groupBytes();
    }

    private int unsigned(long at) {
        return Byte.toUnsignedInt(data.get(ValueLayout.JAVA_BYTE, at));
    }

    /** The integer that is multiplied by a scale: a quant less its format's offset. */
    public int quant(int row, int column) {
        int[] quant = new int[1];
        quants(row, column, 1, quant);
        return quant[0];
    }

    /** {@code to[i] = quant(row + i, column)} for {@code i < count}, within a block. */
    public void quants(int row, int column, int count, int[] to) {
        long group = groupAt(row, column) + column % PANEL;
        long first = group + format.quantsAt();
        int offset = format.offset();
        int inGroup = row % format.groupRows();
        int bits = format.bits();
        for (int i = 0; i < count; i++) {
            int at = inGroup + i;
            if (bits == Byte.SIZE) {
                to[i] = data.get(ValueLayout.JAVA_BYTE, first + (long) at * PANEL) - offset;
            } else {
                int low = unsigned(first + (long) (at / 2) * PANEL) >> at % 2 * 4 & NIBBLE;
                to[i] = (low | highBits(group + format.highAt(), at, bits - 4) << 4) - offset;
            }
        }
    }

    private int highBits(long first, int row, int bits) {
        if (bits == 0) {
            return 0;
        }
        int together = Byte.SIZE / bits;
        return unsigned(first + (long) (row / together) * PANEL) >> row % together * bits & (1 << bits) - 1;
    }

    /** The scale of a row's block. */
    public float scale(int row, int column) {
        long group = groupAt(row, column);
        int c = column % PANEL;
        float scale = data.get(FLOATS, group + (long) c * Float.BYTES);
        return format.isTwoLevel()
                ? scale * data.get(ValueLayout.JAVA_BYTE, group + format.scaleAt(block(row)) + c)
                : scale;
    }

    /** What a row's block adds to each of its weights; 0 where the format has no minimum. */
    public float minimum(int row, int column) {
        if (!format.hasMinimum()) {
            return 0f;
        }
        long group = groupAt(row, column);
        int c = column % PANEL;
        float minimum = data.get(FLOATS, group + format.minimaAt() + (long) c * Float.BYTES);
        return format.isTwoLevel()
                ? minimum * data.get(ValueLayout.JAVA_BYTE, group + format.minimumAt(block(row)) + c)
                : minimum;
    }

    private int block(int row) {
        return row % format.groupRows() / format.blockRows();
    }

    /** The weight itself, rounded once: the product is exact. A minimum of -0 counts as 0, as kernels join sums to products. */
    public float value(int row, int column) {
        float product = quant(row, column) * scale(row, column);
        return format.hasMinimum() ? product + (minimum(row, column) + 0f) : product;
    }
}
