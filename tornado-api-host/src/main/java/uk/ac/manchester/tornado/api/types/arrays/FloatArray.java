package uk.ac.manchester.tornado.api.types.arrays;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.api.annotations.Parallel;

/** A {@link TornadoNativeArray} of {@code float}. */
public final class FloatArray extends TornadoNativeArray {

    /** A new array of {@code size} zeros. */
    public FloatArray(int size) {
        super(size, Float.BYTES);
    }

    private FloatArray(MemorySegment segment) {
        super(segment, Float.BYTES);
    }

    /** A new array with a copy of {@code values}. */
    public static FloatArray fromArray(float[] values) {
        return fromSegment(MemorySegment.ofArray(values));
    }

    /** A new array with a copy of {@code values}. */
    public static FloatArray fromElements(float... values) {
        return fromArray(values);
    }

    /** A new array with a copy of all elements in {@code segment}, which has no header. */
    public static FloatArray fromSegment(MemorySegment segment) {
        FloatArray array = new FloatArray(elementsIn(segment.byteSize(), Float.BYTES));
        array.getSegment().copyFrom(segment);
        return array;
    }

    /** An array over {@code segment} itself: {@link #ARRAY_HEADER} bytes, which are overwritten, then the elements. */
    public static FloatArray fromSegmentShallow(MemorySegment segment) {
        return new FloatArray(segment);
    }

    /** Sets every element of {@code array} to {@code value}; a kernel. */
    public static void initialize(FloatArray array, float value) {
        for (@Parallel int i = 0; i < array.getSize(); i++) {
            array.set(i, value);
        }
    }

    /** The elements, copied to a Java array. */
    public float[] toHeapArray() {
        return getSegment().toArray(ValueLayout.JAVA_FLOAT);
    }

    public void set(int index, float value) {
        segment.set(ValueLayout.JAVA_FLOAT, offset(index, Float.BYTES), value);
    }

    public float get(int index) {
        return segment.get(ValueLayout.JAVA_FLOAT, offset(index, Float.BYTES));
    }

    /** Sets every element to {@code value}. */
    public void init(float value) {
        initialize(this, value);
    }

    @Override
    public void clear() {
        super.clear();
    }

    @Override
    public int getElementSize() {
        return Float.BYTES;
    }
}
