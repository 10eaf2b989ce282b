package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.testsupport.RandomData;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** A random matrix stacked over layers, as the arrays that kernels take and as the matrix of one layer that the oracle takes. */
record KernelMatrix(
        HostMatrix host, int format, FloatArray floats, IntArray words, FloatArray scales, FloatArray powers) {
    static KernelMatrix of(DType dtype, int layer, int layers, int rows, int columns, RandomData data) {
        int size = rows * columns;
        float[] values = data.wildFloats(layers * size);
        MemorySegment elements = MemorySegment.ofArray(new int[wordsFor(dtype, values.length)]);
        for (int i = 0; i < values.length; i++) {
            switch (dtype) {
                case F32 -> elements.setAtIndex(ValueLayout.JAVA_FLOAT, i, values[i]);
                case BF16 ->
                    elements.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (Float.floatToRawIntBits(values[i]) >>> 16));
                case F16 -> elements.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(values[i]));
                case INT8 -> elements.setAtIndex(ValueLayout.JAVA_BYTE, i, (byte) data.between(-127, 127));
                case STORED -> throw new IllegalArgumentException("blocks are not made here");
            }
        }
        int blocks = Math.ceilDiv(rows, DType.BLOCK);
        FloatArray scales = FloatArray.fromArray(data.floats(dtype == DType.INT8 ? layers * blocks * columns : 1));
        long layerBytes = (long) size * dtype.bytes();
        long scaleBytes = dtype == DType.INT8 ? (long) blocks * columns * Float.BYTES : 0;
        MemorySegment host = Arena.ofAuto().allocate(layerBytes, Float.BYTES);
        host.copyFrom(elements.asSlice(layer * layerBytes, layerBytes));
        HostMatrix matrix =
                new HostMatrix(dtype, rows, columns, host, scales.getSegment().asSlice(layer * scaleBytes, scaleBytes));
        return of(matrix, elements, scales);
    }

    /** A column of 16-bit elements, given by their bits. */
    static KernelMatrix ofBits(DType dtype, short[] bits) {
        MemorySegment elements = Arena.ofAuto().allocate((long) bits.length * Short.BYTES, Short.BYTES);
        MemorySegment.copy(bits, 0, elements, ValueLayout.JAVA_SHORT, 0, bits.length);
        HostMatrix host = new HostMatrix(dtype, bits.length, 1, elements, MemorySegment.NULL);
        MemorySegment words = MemorySegment.ofArray(new int[wordsFor(dtype, bits.length)]);
        words.copyFrom(elements);
        return of(host, words, new FloatArray(1));
    }

    private static int wordsFor(DType dtype, int elements) {
        return Math.ceilDiv(elements * dtype.bytes(), Integer.BYTES);
    }

    /** @param words the elements of all layers */
    private static KernelMatrix of(HostMatrix host, MemorySegment words, FloatArray scales) {
        int format = format(host.dtype());
        boolean floats = format == WeightFormat.F32;
        return new KernelMatrix(
                host,
                format,
                floats ? FloatArray.fromSegment(words) : new FloatArray(1),
                floats ? new IntArray(1) : IntArray.fromSegment(words),
                scales,
                WeightFormat.powers(format));
    }

    /** The same, as kernels read it where a compiler can take bits for a float. */
    KernelMatrix asBits() {
        int bits = WeightFormat.BF16_BITS;
        return new KernelMatrix(host, bits, floats, words, scales, WeightFormat.powers(bits));
    }

    static int format(DType dtype) {
        return switch (dtype) {
            case F32 -> WeightFormat.F32;
            case BF16 -> WeightFormat.BF16;
            case F16 -> WeightFormat.F16;
            case INT8 -> WeightFormat.INT8;
            case STORED -> throw new IllegalArgumentException("no device keeps blocks");
        };
    }
}
