package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Copies rectangles of a {@link HostMatrix} to float32 scratch memory, exactly; INT8 without its scales. For one thread. */
final class WidenedRows {
    private static final int LANES = VectorMath.LANES;
    private static final int HALF = WeightLayout.PANEL / 2;

    /** Elements that are taken by way of an array at a time. */
    private static final int CHUNK = 256;

    private final short[] halves = new short[CHUNK];

    /**
     * {@code to[offset + r * stride + c] = matrix[row + r][column + c]} for {@code r < rows, c < columns}; the rest of
     * {@code to} stays as it is.
     */
    void copy(HostMatrix matrix, int row, int rows, int column, int columns, float[] to, int offset, int stride) {
        int count;
        for (int c = 0; c < columns; c += count) {
            int first = column + c;
            count = Math.min(columns - c, matrix.layout().runEnd(matrix.columns(), first) - first);
            for (int r = 0; r < rows; r++) {
                copyRun(matrix, row + r, first, count, to, offset + r * stride + c);
            }
        }
    }

    /** {@code to[c] = the scale of INT8 elements [row][column + c]}. */
    static void copyScales(HostMatrix matrix, int row, int column, int columns, float[] to) {
        int count;
        for (int c = 0; c < columns; c += count) {
            int first = column + c;
            count = Math.min(columns - c, matrix.layout().runEnd(matrix.columns(), first) - first);
            long from = matrix.scaleIndex(row / DType.BLOCK, first) * Float.BYTES;
            MemorySegment.copy(matrix.scales(), ValueLayout.JAVA_FLOAT, from, to, c, count);
        }
    }

    /** Columns that lie together. */
    private void copyRun(HostMatrix matrix, int row, int column, int count, float[] to, int target) {
        MemorySegment elements = matrix.elements();
        boolean paired = matrix.layout().isPaired(matrix.dtype(), matrix.columns(), column);
        long first = paired ? 0 : matrix.index(row, column);
        int copied = switch (matrix.dtype()) {
            case F32 -> copyFloats(elements, first, count, to, target);
            case BF16 ->
                paired
                        ? widenPairs(matrix, row, column, count, to, target)
                        : widenBf16(elements, first, count, to, target);
            case F16 -> widenF16(elements, first, count, to, target);
            case INT8 -> widenBytes(elements, first, count, to, target);
        };
        for (int c = copied; c < count; c++) {
            to[target + c] = matrix.element(row, column + c);
        }
    }

    private static int copyFloats(MemorySegment from, long first, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - LANES; i += LANES) {
            WidenedVectors.floats(from, (first + i) * Float.BYTES).intoArray(to, target + i);
        }
        return i;
    }

    /** Whole vectors of one half of a panel. */
    private static int widenPairs(HostMatrix matrix, int row, int column, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - LANES; i += LANES) {
            int inPanel = (column + i) % WeightLayout.PANEL;
            int inHalf = inPanel % HALF;
            if (inHalf + LANES > HALF) {
                return i;
            }
            long at = matrix.index(row, column + i - inPanel + inHalf) * Short.BYTES;
            (inPanel < HALF
                            ? WidenedVectors.lowerBf16(matrix.elements(), at)
                            : WidenedVectors.upperBf16(matrix.elements(), at))
                    .intoArray(to, target + i);
        }
        return i;
    }

    private static int widenBf16(MemorySegment from, long first, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - LANES; i += LANES) {
            WidenedVectors.bf16(from, (first + i) * Short.BYTES).intoArray(to, target + i);
        }
        return i;
    }

    private int widenF16(MemorySegment from, long first, int count, float[] to, int target) {
        for (int i = 0; i < count; i += CHUNK) {
            int chunk = Math.min(CHUNK, count - i);
            MemorySegment.copy(from, ValueLayout.JAVA_SHORT, (first + i) * Short.BYTES, halves, 0, chunk);
            widenF16(halves, 0, chunk, to, target + i);
        }
        return count;
    }

    /** {@code to[target + i] = from[first + i]}. The compiler makes vectors of this loop by itself. */
    static void widenF16(short[] from, int first, int count, float[] to, int target) {
        for (int i = 0; i < count; i++) {
            to[target + i] = Float.float16ToFloat(from[first + i]);
        }
    }

    private static int widenBytes(MemorySegment from, long first, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - WidenedVectors.BYTES_READ; i += LANES) {
            WidenedVectors.bytes(from, first + i).intoArray(to, target + i);
        }
        return i;
    }
}
