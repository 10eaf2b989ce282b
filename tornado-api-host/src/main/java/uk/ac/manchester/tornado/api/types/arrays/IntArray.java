package uk.ac.manchester.tornado.api.types.arrays;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.api.annotations.Parallel;

/** A {@link TornadoNativeArray} of {@code int}. */
public final class IntArray extends TornadoNativeArray {

    /** A new array of {@code size} zeros. */
    public IntArray(int size) {
        super(size, Integer.BYTES);
    }

    private IntArray(MemorySegment segment) {
        super(segment, Integer.BYTES);
    }

    /** A new array with a copy of {@code values}. */
    public static IntArray fromArray(int[] values) {
        return fromSegment(MemorySegment.ofArray(values));
    }

    /** A new array with a copy of {@code values}. */
    public static IntArray fromElements(int... values) {
        return fromArray(values);
    }

    /** A new array with a copy of all elements in {@code segment}, which has no header. */
    public static IntArray fromSegment(MemorySegment segment) {
        IntArray array = new IntArray(elementsIn(segment.byteSize(), Integer.BYTES));
        array.getSegment().copyFrom(segment);
        return array;
    }

    /** An array over {@code segment} itself: {@link #ARRAY_HEADER} bytes, which are overwritten, then the elements. */
    public static IntArray fromSegmentShallow(MemorySegment segment) {
        return new IntArray(segment);
    }

    /** Sets every element of {@code array} to {@code value}; a kernel. */
    public static void initialize(IntArray array, int value) {
        for (@Parallel int i = 0; i < array.getSize(); i++) {
            array.set(i, value);
        }
    }

    /** The elements, copied to a Java array. */
    public int[] toHeapArray() {
        return getSegment().toArray(ValueLayout.JAVA_INT);
    }

    public void set(int index, int value) {
        segment.set(ValueLayout.JAVA_INT, offset(index, Integer.BYTES), value);
    }

    public int get(int index) {
        return segment.get(ValueLayout.JAVA_INT, offset(index, Integer.BYTES));
    }

    /** Sets every element to {@code value}. */
    public void init(int value) {
        initialize(this, value);
    }

    @Override
    public void clear() {
        super.clear();
    }

    @Override
    public int getElementSize() {
        return Integer.BYTES;
    }
}
