package uk.ac.manchester.tornado.api.types.arrays;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.api.annotations.Parallel;

/** A {@link TornadoNativeArray} of {@code short}. */
public final class ShortArray extends TornadoNativeArray {

    /** A new array of {@code size} zeros. */
    public ShortArray(int size) {
        super(size, Short.BYTES);
    }

    private ShortArray(MemorySegment segment) {
        super(segment, Short.BYTES);
    }

    /** A new array with a copy of {@code values}. */
    public static ShortArray fromArray(short[] values) {
        return fromSegment(MemorySegment.ofArray(values));
    }

    /** A new array with a copy of {@code values}. */
    public static ShortArray fromElements(short... values) {
        return fromArray(values);
    }

    /** A new array with a copy of all elements in {@code segment}, which has no header. */
    public static ShortArray fromSegment(MemorySegment segment) {
        ShortArray array = new ShortArray(elementsIn(segment.byteSize(), Short.BYTES));
        array.getSegment().copyFrom(segment);
        return array;
    }

    /** An array over {@code segment} itself: {@link #ARRAY_HEADER} bytes, which are overwritten, then the elements. */
    public static ShortArray fromSegmentShallow(MemorySegment segment) {
        return new ShortArray(segment);
    }

    /** Sets every element of {@code array} to {@code value}; a kernel. */
    public static void initialize(ShortArray array, short value) {
        for (@Parallel int i = 0; i < array.getSize(); i++) {
            array.set(i, value);
        }
    }

    /** The elements, copied to a Java array. */
    public short[] toHeapArray() {
        return getSegment().toArray(ValueLayout.JAVA_SHORT);
    }

    public void set(int index, short value) {
        segment.set(ValueLayout.JAVA_SHORT, offset(index, Short.BYTES), value);
    }

    public short get(int index) {
        return segment.get(ValueLayout.JAVA_SHORT, offset(index, Short.BYTES));
    }

    /** Sets every element to {@code value}. */
    public void init(short value) {
        initialize(this, value);
    }

    @Override
    public void clear() {
        super.clear();
    }

    @Override
    public int getElementSize() {
        return Short.BYTES;
    }
}
