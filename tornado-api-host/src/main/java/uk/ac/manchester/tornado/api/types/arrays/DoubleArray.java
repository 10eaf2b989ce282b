package uk.ac.manchester.tornado.api.types.arrays;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.api.annotations.Parallel;

/** A {@link TornadoNativeArray} of {@code double}. */
public final class DoubleArray extends TornadoNativeArray {

    /** A new array of {@code size} zeros. */
    public DoubleArray(int size) {
        super(size, Double.BYTES);
    }

    private DoubleArray(MemorySegment segment) {
        super(segment, Double.BYTES);
    }

    /** A new array with a copy of {@code values}. */
    public static DoubleArray fromArray(double[] values) {
        return fromSegment(MemorySegment.ofArray(values));
    }

    /** A new array with a copy of {@code values}. */
    public static DoubleArray fromElements(double... values) {
        return fromArray(values);
    }

    /** A new array with a copy of all elements in {@code segment}, which has no header. */
    public static DoubleArray fromSegment(MemorySegment segment) {
        DoubleArray array = new DoubleArray(elementsIn(segment.byteSize(), Double.BYTES));
        array.getSegment().copyFrom(segment);
        return array;
    }

    /** An array over {@code segment} itself: {@link #ARRAY_HEADER} bytes, which are overwritten, then the elements. */
    public static DoubleArray fromSegmentShallow(MemorySegment segment) {
        return new DoubleArray(segment);
    }

    /** Sets every element of {@code array} to {@code value}; a kernel. */
    public static void initialize(DoubleArray array, double value) {
        for (@Parallel int i = 0; i < array.getSize(); i++) {
            array.set(i, value);
        }
    }

    /** The elements, copied to a Java array. */
    public double[] toHeapArray() {
        return getSegment().toArray(ValueLayout.JAVA_DOUBLE);
    }

    public void set(int index, double value) {
        segment.set(ValueLayout.JAVA_DOUBLE, offset(index, Double.BYTES), value);
    }

    public double get(int index) {
        return segment.get(ValueLayout.JAVA_DOUBLE, offset(index, Double.BYTES));
    }

    /** Sets every element to {@code value}. */
    public void init(double value) {
        initialize(this, value);
    }

    @Override
    public void clear() {
        super.clear();
    }

    @Override
    public int getElementSize() {
        return Double.BYTES;
    }
}
