package uk.ac.manchester.tornado.api.types.arrays;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.HalfFloat;

/** A {@link TornadoNativeArray} of {@link HalfFloat}, two bytes each. */
public final class HalfFloatArray extends TornadoNativeArray {

    /** A new array of {@code size} zeros. */
    public HalfFloatArray(int size) {
        super(size, Short.BYTES);
    }

    private HalfFloatArray(MemorySegment segment) {
        super(segment, Short.BYTES);
    }

    /** A new array with a copy of {@code values}. */
    public static HalfFloatArray fromArray(HalfFloat[] values) {
        HalfFloatArray array = new HalfFloatArray(values.length);
        for (int i = 0; i < values.length; i++) {
            array.set(i, values[i]);
        }
        return array;
    }

    /** A new array with a copy of {@code values}. */
    public static HalfFloatArray fromElements(HalfFloat... values) {
        return fromArray(values);
    }

    /** A new array with a copy of all elements in {@code segment}, which has no header. */
    public static HalfFloatArray fromSegment(MemorySegment segment) {
        HalfFloatArray array = new HalfFloatArray(elementsIn(segment.byteSize(), Short.BYTES));
        array.getSegment().copyFrom(segment);
        return array;
    }

    /** An array over {@code segment} itself: {@link #ARRAY_HEADER} bytes, which are overwritten, then the elements. */
    public static HalfFloatArray fromSegmentShallow(MemorySegment segment) {
        return new HalfFloatArray(segment);
    }

    /** Sets every element of {@code array} to {@code value}; a kernel. */
    public static void initialize(HalfFloatArray array, HalfFloat value) {
        for (@Parallel int i = 0; i < array.getSize(); i++) {
            array.set(i, value);
        }
    }

    /** The elements, copied to a Java array. */
    public HalfFloat[] toHeapArray() {
        HalfFloat[] values = new HalfFloat[getSize()];
        for (int i = 0; i < values.length; i++) {
            values[i] = get(i);
        }
        return values;
    }

    /** The elements' bits, copied to a Java array. */
    public short[] toShortArray() {
        return getSegment().toArray(ValueLayout.JAVA_SHORT);
    }

    public void set(int index, HalfFloat value) {
        segment.set(ValueLayout.JAVA_SHORT, offset(index, Short.BYTES), value.getHalfFloatValue());
    }

    public HalfFloat get(int index) {
        return new HalfFloat(segment.get(ValueLayout.JAVA_SHORT, offset(index, Short.BYTES)));
    }

    /** Sets every element to {@code value}. */
    public void init(HalfFloat value) {
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
