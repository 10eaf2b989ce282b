package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Copies rectangles of a {@link HostMatrix} to float32 scratch memory, exactly; INT8 without its scales. */
final class WidenedRows {
    private static final int LANES = VectorMath.LANES;

    private WidenedRows() {}

    /**
     * {@code to[offset + r * stride + c] = matrix[row + r][column + c]} for {@code r < rows, c < columns}; the rest of
     * {@code to} stays as it is.
     */
    static void copy(
            HostMatrix matrix, int row, int rows, int column, int columns, float[] to, int offset, int stride) {
        for (int r = 0; r < rows; r++) {
            long first = (long) (row + r) * matrix.columns() + column;
            int target = offset + r * stride;
            int copied = switch (matrix.dtype()) {
                case F32 -> copyFloats(matrix.elements(), first, columns, to, target);
                case BF16 -> widenBf16(matrix.elements(), first, columns, to, target);
                case F16 -> widenF16(matrix.elements(), first, columns, to, target);
                case INT8 -> widenBytes(matrix.elements(), first, columns, to, target);
            };
            for (int c = copied; c < columns; c++) {
                to[target + c] = matrix.element(row + r, column + c);
            }
        }
    }

    /** {@code to[c] = the scale of INT8 elements [row][column + c]}. */
    static void copyScales(HostMatrix matrix, int row, int column, int columns, float[] to) {
        long first = (long) (row / DType.BLOCK) * matrix.columns() + column;
        MemorySegment.copy(matrix.scales(), ValueLayout.JAVA_FLOAT, first * Float.BYTES, to, 0, columns);
    }

    private static int copyFloats(MemorySegment from, long first, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - LANES; i += LANES) {
            WidenedVectors.floats(from, (first + i) * Float.BYTES).intoArray(to, target + i);
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

    /** The compiler makes vectors of this loop by itself. */
    private static int widenF16(MemorySegment from, long first, int count, float[] to, int target) {
        for (int i = 0; i < count; i++) {
            to[target + i] = Float.float16ToFloat(from.getAtIndex(ValueLayout.JAVA_SHORT, first + i));
        }
        return count;
    }

    private static int widenBytes(MemorySegment from, long first, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - WidenedVectors.BYTES_READ; i += LANES) {
            WidenedVectors.bytes(from, first + i).intoArray(to, target + i);
        }
        return i;
    }
}
