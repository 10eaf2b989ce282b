package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
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

/** Copies rectangles of a {@link HostMatrix} to float32 scratch memory, exactly; INT8 without its scales. */
final class WidenedRows {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final int LANES = VectorMath.LANES;
    private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** As many shorts as there are float lanes. */
    private static final VectorSpecies<Short> SHORTS =
            VectorSpecies.of(short.class, VectorShape.forBitSize(Math.max(64, FLOATS.vectorBitSize() / 2)));

    /** As many bytes as there are float lanes, or twice as many where vectors are short. */
    private static final VectorSpecies<Byte> BYTES =
            VectorSpecies.of(byte.class, VectorShape.forBitSize(Math.max(64, FLOATS.vectorBitSize() / 4)));

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
            switch (matrix.dtype()) {
                case F32 -> copyFloats(matrix.elements(), first, columns, to, target);
                case BF16 -> widenBf16(matrix.elements(), first, columns, to, target);
                case F16 -> widenF16(matrix.elements(), first, columns, to, target);
                case INT8 -> widenBytes(matrix.elements(), first, columns, to, target);
            }
        }
    }

    /** {@code to[c] = the scale of INT8 elements [row][column + c]}. */
    static void copyScales(HostMatrix matrix, int row, int column, int columns, float[] to) {
        long first = (long) (row / DType.BLOCK) * matrix.columns() + column;
        copyFloats(matrix.scales(), first, columns, to, 0);
    }

    private static void copyFloats(MemorySegment from, long first, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - LANES; i += LANES) {
            FloatVector.fromMemorySegment(FLOATS, from, (first + i) * Float.BYTES, ORDER)
                    .intoArray(to, target + i);
        }
        for (; i < count; i++) {
            to[target + i] = from.getAtIndex(ValueLayout.JAVA_FLOAT, first + i);
        }
    }

    private static void widenBf16(MemorySegment from, long first, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - LANES; i += LANES) {
            ShortVector bits = ShortVector.fromMemorySegment(SHORTS, from, (first + i) * Short.BYTES, ORDER);
            IntVector widened = (IntVector) bits.convertShape(VectorOperators.ZERO_EXTEND_S2I, INTS, 0);
            widened.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().intoArray(to, target + i);
        }
        for (; i < count; i++) {
            to[target + i] = Float.intBitsToFloat(from.getAtIndex(ValueLayout.JAVA_SHORT, first + i) << 16);
        }
    }

    private static void widenF16(MemorySegment from, long first, int count, float[] to, int target) {
        for (int i = 0; i < count; i++) {
            to[target + i] = Float.float16ToFloat(from.getAtIndex(ValueLayout.JAVA_SHORT, first + i));
        }
    }

    private static void widenBytes(MemorySegment from, long first, int count, float[] to, int target) {
        int i = 0;
        for (; i <= count - BYTES.length(); i += LANES) {
            ByteVector bytes = ByteVector.fromMemorySegment(BYTES, from, first + i, ORDER);
            FloatVector floats = (FloatVector) bytes.convertShape(VectorOperators.B2F, FLOATS, 0);
            floats.intoArray(to, target + i);
        }
        for (; i < count; i++) {
            to[target + i] = from.get(ValueLayout.JAVA_BYTE, first + i);
        }
    }
}
