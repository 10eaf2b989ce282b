package uk.ac.manchester.tornado.api.types.arrays;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.api.annotations.Parallel;

/** A {@link TornadoNativeArray} of {@code byte}. */
public final class ByteArray extends TornadoNativeArray {

    /** A new array of {@code size} zeros. */
    public ByteArray(int size) {
        super(size, Byte.BYTES);
    }

    private ByteArray(MemorySegment segment) {
        super(segment, Byte.BYTES);
    }

    /** A new array with a copy of {@code values}. */
    public static ByteArray fromArray(byte[] values) {
        return fromSegment(MemorySegment.ofArray(values));
    }

    /** A new array with a copy of {@code values}. */
    public static ByteArray fromElements(byte... values) {
        return fromArray(values);
    }

    /** A new array with a copy of all elements in {@code segment}, which has no header. */
    public static ByteArray fromSegment(MemorySegment segment) {
        ByteArray array = new ByteArray(elementsIn(segment.byteSize(), Byte.BYTES));
        array.getSegment().copyFrom(segment);
        return array;
    }

    /** An array over {@code segment} itself: {@link #ARRAY_HEADER} bytes, which are overwritten, then the elements. */
    public static ByteArray fromSegmentShallow(MemorySegment segment) {
        return new ByteArray(segment);
    }

    /** Sets every element of {@code array} to {@code value}; a kernel. */
    public static void initialize(ByteArray array, byte value) {
        for (@Parallel int i = 0; i < array.getSize(); i++) {
            array.set(i, value);
        }
    }

    /** The elements, copied to a Java array. */
    public byte[] toHeapArray() {
        return getSegment().toArray(ValueLayout.JAVA_BYTE);
    }

    public void set(int index, byte value) {
        segment.set(ValueLayout.JAVA_BYTE, offset(index, Byte.BYTES), value);
    }

    public byte get(int index) {
        return segment.get(ValueLayout.JAVA_BYTE, offset(index, Byte.BYTES));
    }

    /** Sets every element to {@code value}. */
    public void init(byte value) {
        initialize(this, value);
    }

    @Override
    public void clear() {
        super.clear();
    }

    @Override
    public int getElementSize() {
        return Byte.BYTES;
    }
}
