package io.github.tornadotransformers.host;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** One vector of a matrix's elements as float32, exactly, by weight type; {@code at} counts bytes. */
final class WidenedVectors {
    private static final VectorSpecies<Float> FLOATS = VectorMath.FLOATS;
    private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final int SHORTEST_VECTOR = 64;

    /** As many shorts as there are float lanes. */
    private static final VectorSpecies<Short> SHORTS = VectorSpecies.of(
            short.class, VectorShape.forBitSize(Math.max(SHORTEST_VECTOR, FLOATS.vectorBitSize() / 2)));

    /** As many bytes as there are float lanes, or twice as many where vectors are short. */
    static final VectorSpecies<Byte> BYTES =
            VectorSpecies.of(byte.class, VectorShape.forBitSize(Math.max(SHORTEST_VECTOR, FLOATS.vectorBitSize() / 4)));

    /** Elements that {@link #bytes} reads; more than a vector's lanes where vectors are short. */
    static final int BYTES_READ = BYTES.length();

    private WidenedVectors() {}

    static FloatVector floats(MemorySegment matrix, long at) {
        return FloatVector.fromMemorySegment(FLOATS, matrix, at, ORDER);
    }

    static FloatVector bf16(MemorySegment matrix, long at) {
        return shorts(matrix, at).lanewise(VectorOperators.LSHL, Short.SIZE).reinterpretAsFloats();
    }

    /** The first of each two bf16 numbers. */
    static FloatVector lowerBf16(MemorySegment matrix, long at) {
        return IntVector.fromMemorySegment(INTS, matrix, at, ORDER)
                .lanewise(VectorOperators.LSHL, Short.SIZE)
                .reinterpretAsFloats();
    }

    /** The second of each two bf16 numbers. */
    static FloatVector upperBf16(MemorySegment matrix, long at) {
        return IntVector.fromMemorySegment(INTS, matrix, at, ORDER)
                .and(0xFFFF_0000)
                .reinterpretAsFloats();
    }

    static FloatVector bytes(MemorySegment matrix, long at) {
        ByteVector bytes = ByteVector.fromMemorySegment(BYTES, matrix, at, ORDER);
        return (FloatVector) bytes.convertShape(VectorOperators.B2F, FLOATS, 0);
    }

    /** Unsigned. */
    private static IntVector shorts(MemorySegment matrix, long at) {
        ShortVector shorts = ShortVector.fromMemorySegment(SHORTS, matrix, at, ORDER);
        return (IntVector) shorts.convertShape(VectorOperators.ZERO_EXTEND_S2I, INTS, 0);
    }
}
