package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.testsupport.RandomData;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/** A random matrix stacked over layers, as the arrays that kernels take and as the matrix of one layer that the oracle takes. */
record KernelMatrix(
        HostMatrix host,
        int format,
        FloatArray floats,
        ShortArray shorts,
        ByteArray bytes,
        FloatArray scales,
        FloatArray powers) {
    static KernelMatrix of(DType dtype, int layer, int layers, int rows, int columns, RandomData data) {
        int size = rows * columns;
        float[] values = data.wildFloats(layers * size);
        FloatArray floats = new FloatArray(dtype == DType.F32 ? values.length : 1);
        ShortArray shorts = new ShortArray(dtype == DType.BF16 || dtype == DType.F16 ? values.length : 1);
        ByteArray bytes = new ByteArray(dtype == DType.INT8 ? values.length : 1);
        for (int i = 0; i < values.length; i++) {
            switch (dtype) {
                case F32 -> floats.set(i, values[i]);
                case BF16 -> shorts.set(i, (short) (Float.floatToRawIntBits(values[i]) >>> 16));
                case F16 -> shorts.set(i, Float.floatToFloat16(values[i]));
                case INT8 -> bytes.set(i, (byte) data.between(-127, 127));
                case STORED -> throw new IllegalArgumentException("blocks are not made here");
            }
        }
        int blocks = Math.ceilDiv(rows, DType.BLOCK);
        FloatArray scales = FloatArray.fromArray(data.floats(dtype == DType.INT8 ? layers * blocks * columns : 1));
        MemorySegment elements = switch (dtype) {
            case F32 -> floats.getSegment();
            case BF16, F16 -> shorts.getSegment();
            case INT8 -> bytes.getSegment();
            case STORED -> throw new IllegalArgumentException("no device keeps blocks");
        };
        long layerBytes = (long) size * dtype.bytes();
        long scaleBytes = dtype == DType.INT8 ? (long) blocks * columns * Float.BYTES : 0;
        HostMatrix host = new HostMatrix(
                dtype,
                rows,
                columns,
                elements.asSlice(layer * layerBytes, layerBytes),
                scales.getSegment().asSlice(layer * scaleBytes, scaleBytes));
        int format = format(dtype);
        return new KernelMatrix(host, format, floats, shorts, bytes, scales, WeightFormat.powers(format));
    }

    /** A column of 16-bit elements, given by their bits. */
    static KernelMatrix ofBits(DType dtype, short[] bits) {
        ShortArray shorts = ShortArray.fromArray(bits);
        MemorySegment elements = Arena.ofAuto().allocate((long) bits.length * Short.BYTES, Short.BYTES);
        MemorySegment.copy(bits, 0, elements, ValueLayout.JAVA_SHORT, 0, bits.length);
        HostMatrix host = new HostMatrix(dtype, bits.length, 1, elements, MemorySegment.NULL);
        int format = format(dtype);
        return new KernelMatrix(
                host,
                format,
                new FloatArray(1),
                shorts,
                new ByteArray(1),
                new FloatArray(1),
                WeightFormat.powers(format));
    }

    private static int format(DType dtype) {
        return switch (dtype) {
            case F32 -> WeightFormat.F32;
            case BF16 -> WeightFormat.BF16;
            case F16 -> WeightFormat.F16;
            case INT8 -> WeightFormat.INT8;
            case STORED -> throw new IllegalArgumentException("no device keeps blocks");
        };
    }
}
