package uk.ac.manchester.tornado.api.types.arrays;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Objects;

/**
 * A numeric array outside the Java heap: a header, the number of elements in its first four bytes, then the elements in native
 * byte order. New arrays hold zeros.
 *
 * <p>Where the real class lets an index below zero reach into the header, this one throws {@link IndexOutOfBoundsException}.
 */
public abstract sealed class TornadoNativeArray
        permits ByteArray, DoubleArray, FloatArray, HalfFloatArray, IntArray, ShortArray {

    /**
     * Bytes in front of the first element: 16, or 24 on a JVM started with uncompressed references; the system property
     * {@code tornado.panama.objectHeader} overrides both.
     */
    public static final long ARRAY_HEADER = Long.getLong("tornado.panama.objectHeader", defaultHeaderBytes());

    /** Header and elements. */
    final MemorySegment segment;

    private final int size;

    /** A new array of {@code size} zeros, each {@code elementBytes} wide. */
    TornadoNativeArray(int size, int elementBytes) {
        if (size < 0) {
            throw new IllegalArgumentException("An array cannot hold %d elements".formatted(size));
        }
        this.size = size;
        this.segment = Arena.ofAuto().allocate(ARRAY_HEADER + (long) size * elementBytes, Long.BYTES);
        writeHeader();
    }

    /** An array over {@code segment}, which holds room for the header and then the elements; the header is written. */
    TornadoNativeArray(MemorySegment segment, int elementBytes) {
        this.size = elementsIn(segment.byteSize() - ARRAY_HEADER, elementBytes);
        this.segment = segment;
        writeHeader();
    }

    private static long defaultHeaderBytes() {
        List<String> flags = ManagementFactory.getRuntimeMXBean().getInputArguments();
        boolean uncompressed =
                flags.contains("-XX:-UseCompressedOops") || flags.contains("-XX:-UseCompressedClassPointers");
        return uncompressed ? 24 : 16;
    }

    /**
     * How many elements {@code bytes} hold.
     *
     * @throws IllegalArgumentException if they hold a broken number of elements, or more than an int can count
     */
    static int elementsIn(long bytes, int elementBytes) {
        if (bytes < 0 || bytes % elementBytes != 0 || bytes / elementBytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "%d bytes do not make an array of %d-byte elements".formatted(bytes, elementBytes));
        }
        return (int) (bytes / elementBytes);
    }

    private void writeHeader() {
        segment.set(ValueLayout.JAVA_INT, 0, size);
    }

    /** The offset in {@link #segment} of the element at {@code index}. */
    final long offset(int index, int elementBytes) {
        return ARRAY_HEADER + (long) Objects.checkIndex(index, size) * elementBytes;
    }

    /** The number of elements. */
    public int getSize() {
        return size;
    }

    /** The elements, without the header; not a copy. */
    public MemorySegment getSegment() {
        return segment.asSlice(ARRAY_HEADER);
    }

    /** Header and elements; not a copy. */
    public MemorySegment getSegmentWithHeader() {
        return segment;
    }

    /** Bytes of header and elements. */
    public long getNumBytesOfSegmentWithHeader() {
        return segment.byteSize();
    }

    /** Bytes of the elements. */
    public long getNumBytesOfSegment() {
        return segment.byteSize() - ARRAY_HEADER;
    }

    /** Sets every element to zero. */
    protected void clear() {
        getSegment().fill((byte) 0);
    }

    /** Bytes of one element. */
    public abstract int getElementSize();
}
