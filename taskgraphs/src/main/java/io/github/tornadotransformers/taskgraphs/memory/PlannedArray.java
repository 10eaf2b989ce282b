package io.github.tornadotransformers.taskgraphs.memory;

import java.lang.foreign.MemorySegment;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** An array that a forward pass will have on the device, and its twin on the host. */
public record PlannedArray(String name, Element element, long elements) {
    /** What an array holds. */
    public enum Element {
        FLOAT(Float.BYTES),
        SHORT(Short.BYTES),
        BYTE(Byte.BYTES),
        INT(Integer.BYTES);

        private final int bytes;

        Element(int bytes) {
            this.bytes = bytes;
        }

        public int bytes() {
            return bytes;
        }
    }

    /** Of the elements and their header. */
    public long bytes() {
        return Math.addExact(Math.multiplyExact(elements, element.bytes), TornadoNativeArray.ARRAY_HEADER);
    }

    /**
     * The array over {@code memory}: a header, which is overwritten, then the elements.
     *
     * @param memory of {@link #bytes()}
     */
    public TornadoNativeArray over(MemorySegment memory) {
        return switch (element) {
            case FLOAT -> FloatArray.fromSegmentShallow(memory);
            case SHORT -> ShortArray.fromSegmentShallow(memory);
            case BYTE -> ByteArray.fromSegmentShallow(memory);
            case INT -> IntArray.fromSegmentShallow(memory);
        };
    }
}
