package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.Bfloat16;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Copies rectangles of a {@link HostMatrix} to float32 scratch memory, exactly; INT8 without its scales. For one thread. */
final class WidenedRows {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = VectorMath.INTS;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final int SHORTEST_VECTOR = 64;

    /** As many shorts as there are float lanes. */
    static final VectorSpecies<Short> SHORTS = VectorSpecies.of(
            short.class, VectorShape.forBitSize(Math.max(SHORTEST_VECTOR, FLOATS.vectorBitSize() / 2)));

    /** As many bytes as there are float lanes, or twice as many where vectors are short. */
    static final VectorSpecies<Byte> BYTES =
            VectorSpecies.of(byte.class, VectorShape.forBitSize(Math.max(SHORTEST_VECTOR, FLOATS.vectorBitSize() / 4)));

    /** The upper half of an int: the second of two bf16 numbers. */
    private static final int UPPER = 0xFFFF_0000;

    private static final int LANES = VectorMath.LANES;
    private static final int HALF = WeightLayout.PANEL / 2;

    /** Elements that are taken by way of arrays at a time. */
    private static final int CHUNK = HostOps.SLICE * WeightLayout.PANEL;

    private final short[] halves = new short[CHUNK];
    private final float[] floats = new float[CHUNK];

    /**
     * {@code to[offset + r * stride + c] = matrix[row + r][column + c]} for {@code r < rows, c < columns}; the rest of
     * {@code to} stays as it is.
     */
    void copy(HostMatrix matrix, int row, int rows, int column, int columns, float[] to, int offset, int stride) {
        int count;
        for (int c = 0; c < columns; c += count) {
            int first = column + c;
            int end = matrix.layout().runEnd(matrix.columns(), first);
            count = Math.min(columns - c, end - first);
            int step = end - matrix.layout().runStart(first);
            copyRuns(matrix, row, rows, first, count, step, to, offset + c, stride);
        }
    }

    /** {@code to[offset + c] = the scale of INT8 elements [row][column + c]}. */
    static void copyScales(HostMatrix matrix, int row, int column, int columns, float[] to, int offset) {
        int count;
        for (int c = 0; c < columns; c += count) {
            int first = column + c;
            count = Math.min(columns - c, matrix.layout().runEnd(matrix.columns(), first) - first);
            long from = matrix.scaleIndex(row / DType.BLOCK, first) * Float.BYTES;
            MemorySegment.copy(matrix.scales(), ValueLayout.JAVA_FLOAT, from, to, offset + c, count);
        }
    }

    /** Columns that lie together, {@code step} elements from one row to the next. */
    private void copyRuns(
            HostMatrix matrix, int row, int rows, int column, int count, int step, float[] to, int target, int stride) {
        MemorySegment elements = matrix.elements();
        if (matrix.layout() == WeightLayout.PANELS && count == WeightLayout.PANEL && stride == WeightLayout.PANEL) {
            copyPanel(matrix, row, rows, column, to, target);
            return;
        }
        boolean paired = matrix.layout().isPaired(matrix.dtype(), matrix.columns(), column);
        long first = matrix.index(row, paired ? matrix.layout().runStart(column) : column);
        int copied = switch (matrix.dtype()) {
            case F32 -> copyFloats(elements, first, rows, count, step, to, target, stride);
            case BF16 ->
                paired
                        ? widenPairs(elements, first, rows, column % WeightLayout.PANEL, count, to, target, stride)
                        : widenBf16(elements, first, rows, count, step, to, target, stride);
            case F16 -> widenF16(elements, first, rows, count, step, to, target, stride);
            case INT8 -> widenBytes(elements, first, rows, count, step, to, target, stride);
            case STORED -> throw new IllegalStateException("tensors are kept apart");
        };
        for (int r = 0; r < rows && copied < count; r++) {
            for (int c = copied; c < count; c++) {
                to[target + r * stride + c] = matrix.element(row + r, column + c);
            }
        }
    }

    /** Rows of a whole panel, which lie behind each other here and there. */
    private void copyPanel(HostMatrix matrix, int row, int rows, int column, float[] to, int target) {
        MemorySegment from = matrix.elements();
        long first = matrix.index(row, column);
        int count = rows * WeightLayout.PANEL;
        switch (matrix.dtype()) {
            case F32 -> MemorySegment.copy(from, ValueLayout.JAVA_FLOAT, first * Float.BYTES, to, target, count);
            case BF16 -> panelOfPairs(from, first * Short.BYTES, rows, to, target);
            case F16 -> {
                MemorySegment.copy(from, ValueLayout.JAVA_SHORT, first * Short.BYTES, halves, 0, count);
                widenF16(halves, count, to, target);
            }
            case INT8 -> panelOfBytes(from, first, count, to, target);
            case STORED -> throw new IllegalStateException("tensors are kept apart");
        }
    }

    private static void panelOfPairs(MemorySegment from, long first, int rows, float[] to, int target) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < HALF; c += LANES) {
                IntVector pairs = IntVector.fromMemorySegment(
                        INTS,
                        from,
                        first + (long) r * (WeightLayout.PANEL * Short.BYTES) + (long) c * Integer.BYTES,
                        ORDER);
                int at = target + r * WeightLayout.PANEL + c;
                pairs.lanewise(VectorOperators.LSHL, Short.SIZE)
                        .reinterpretAsFloats()
                        .intoArray(to, at);
                pairs.and(UPPER).reinterpretAsFloats().intoArray(to, at + HALF);
            }
        }
    }

    /** Where vectors are short, a load takes more bytes than there are lanes, and the last are taken one by one. */
    private static void panelOfBytes(MemorySegment from, long first, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - BYTES.length(); i += LANES) {
            ((FloatVector) ByteVector.fromMemorySegment(BYTES, from, first + i, ORDER)
                            .convertShape(VectorOperators.B2F, FLOATS, 0))
                    .intoArray(to, target + i);
        }
        for (; i < count; i++) {
            to[target + i] = from.get(ValueLayout.JAVA_BYTE, first + i);
        }
    }

    private static int copyFloats(
            MemorySegment from, long first, int rows, int count, int step, float[] to, int target, int stride) {
        int whole = count - count % LANES;
        for (int r = 0; r < rows; r++) {
            long at = first + (long) r * step;
            for (int i = 0; i < whole; i += LANES) {
                FloatVector.fromMemorySegment(FLOATS, from, (at + i) * Float.BYTES, ORDER)
                        .intoArray(to, target + r * stride + i);
            }
        }
        return whole;
    }

    /** As many whole vectors, each in one half of a panel. */
    private static int widenPairs(
            MemorySegment from, long first, int rows, int inPanel, int count, float[] to, int target, int stride) {
        int whole = 0;
        for (; whole <= count - LANES && (inPanel + whole) % HALF <= HALF - LANES; whole += LANES) {
            int inHalf = (inPanel + whole) % HALF;
            boolean isUpper = inPanel + whole >= HALF;
            for (int r = 0; r < rows; r++) {
                long at = (first + (long) r * WeightLayout.PANEL) * Short.BYTES + (long) inHalf * Integer.BYTES;
                IntVector pairs = IntVector.fromMemorySegment(INTS, from, at, ORDER);
                int place = target + r * stride + whole;
                if (isUpper) {
                    pairs.and(UPPER).reinterpretAsFloats().intoArray(to, place);
                } else {
                    pairs.lanewise(VectorOperators.LSHL, Short.SIZE)
                            .reinterpretAsFloats()
                            .intoArray(to, place);
                }
            }
        }
        return whole;
    }

    private static int widenBf16(
            MemorySegment from, long first, int rows, int count, int step, float[] to, int target, int stride) {
        int whole = count - count % LANES;
        for (int r = 0; r < rows; r++) {
            long at = first + (long) r * step;
            for (int i = 0; i < whole; i += LANES) {
                IntVector shorts =
                        (IntVector) ShortVector.fromMemorySegment(SHORTS, from, (at + i) * Short.BYTES, ORDER)
                                .convertShape(VectorOperators.ZERO_EXTEND_S2I, INTS, 0);
                shorts.lanewise(VectorOperators.LSHL, Short.SIZE)
                        .reinterpretAsFloats()
                        .intoArray(to, target + r * stride + i);
            }
        }
        return whole;
    }

    /** By way of arrays, as the compiler makes vectors of the conversion's loop for arrays only: many rows at a time. */
    private int widenF16(
            MemorySegment from, long first, int rows, int count, int step, float[] to, int target, int stride) {
        int abreast = Math.max(1, CHUNK / step);
        int chunk = Math.min(CHUNK, abreast == 1 ? count : step);
        for (int r = 0; r < rows; r += abreast) {
            int height = Math.min(abreast, rows - r);
            for (int i = 0; i < count; i += chunk) {
                int width = Math.min(chunk, count - i);
                int size = (height - 1) * step + width;
                long at = first + (long) r * step + i;
                MemorySegment.copy(from, ValueLayout.JAVA_SHORT, at * Short.BYTES, halves, 0, size);
                if (count == step && step == stride) {
                    widenF16(halves, size, to, target + r * stride + i);
                } else {
                    widenF16(halves, size, floats, 0);
                    for (int h = 0; h < height; h++) {
                        System.arraycopy(floats, h * step, to, target + (r + h) * stride + i, width);
                    }
                }
            }
        }
        return count;
    }

    /** {@code to[offset + i] = from[first + i]} for {@code i < count}. */
    static void widen(KvType type, short[] from, int first, int count, float[] to, int offset) {
        if (type == KvType.F16) {
            for (int i = 0; i < count; i++) {
                to[offset + i] = Float.float16ToFloat(from[first + i]);
            }
            return;
        }
        int i = 0;
        for (; i <= count - LANES; i += LANES) {
            IntVector shorts = (IntVector) ShortVector.fromArray(SHORTS, from, first + i)
                    .convertShape(VectorOperators.ZERO_EXTEND_S2I, INTS, 0);
            shorts.lanewise(VectorOperators.LSHL, Short.SIZE)
                    .reinterpretAsFloats()
                    .intoArray(to, offset + i);
        }
        for (; i < count; i++) {
            to[offset + i] = Bfloat16.toFloat(from[first + i]);
        }
    }

    /** {@code to[offset + i] = from[i]}. */
    static void widenF16(short[] from, int count, float[] to, int offset) {
        for (int i = 0; i < count; i++) {
            to[offset + i] = Float.float16ToFloat(from[i]);
        }
    }

    private static int widenBytes(
            MemorySegment from, long first, int rows, int count, int step, float[] to, int target, int stride) {
        int whole = Math.max(0, count - BYTES.length() + LANES) / LANES * LANES;
        for (int r = 0; r < rows; r++) {
            long at = first + (long) r * step;
            for (int i = 0; i < whole; i += LANES) {
                ((FloatVector) ByteVector.fromMemorySegment(BYTES, from, at + i, ORDER)
                                .convertShape(VectorOperators.B2F, FLOATS, 0))
                        .intoArray(to, target + r * stride + i);
            }
        }
        return whole;
    }
}
