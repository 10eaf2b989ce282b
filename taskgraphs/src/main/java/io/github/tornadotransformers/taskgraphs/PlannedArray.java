package io.github.tornadotransformers.taskgraphs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** An array that a forward pass will have on the device, and its twin on the host. */
record PlannedArray(String name, Element element, long elements) {
    /** What an array holds. */
    enum Element {
        FLOAT(Float.BYTES),
        SHORT(Short.BYTES),
        BYTE(Byte.BYTES),
        INT(Integer.BYTES);

        private final int bytes;

        Element(int bytes) {
            this.bytes = bytes;
        }
    }

    /** Of the elements and their header. */
    long bytes() {
        return Math.addExact(Math.multiplyExact(elements, element.bytes), TornadoNativeArray.ARRAY_HEADER);
    }

    /**
     * The array, its elements aligned to {@code alignment} bytes, in memory that {@code arena} frees. It holds zeros.
     *
     * @param alignment a power of two, at least the header's bytes
     */
    TornadoNativeArray allocate(Arena arena, long alignment) {
        long gap = alignment - TornadoNativeArray.ARRAY_HEADER;
        MemorySegment segment = arena.allocate(gap + bytes(), alignment).asSlice(gap);
        return switch (element) {
            case FLOAT -> FloatArray.fromSegmentShallow(segment);
            case SHORT -> ShortArray.fromSegmentShallow(segment);
            case BYTE -> ByteArray.fromSegmentShallow(segment);
            case INT -> IntArray.fromSegmentShallow(segment);
        };
    }
}
