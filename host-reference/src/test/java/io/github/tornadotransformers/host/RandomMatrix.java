package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.testsupport.RandomData;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Matrices of every type and order with seeded elements. */
final class RandomMatrix {
    private RandomMatrix() {}

    static HostMatrix of(DType dtype, int rows, int columns, RandomData data) {
        WeightLayout layout = data.coin() ? WeightLayout.PANELS : WeightLayout.ROW_MAJOR;
        return of(dtype, rows, columns, layout, data);
    }

    static HostMatrix of(DType dtype, int rows, int columns, WeightLayout layout, RandomData data) {
        long size = (long) rows * columns;
        MemorySegment elements = Arena.ofAuto().allocate(size * dtype.bytes(), Float.BYTES);
        float[] values = data.wildFloats(rows * columns);
        for (int i = 0; i < size; i++) {
            switch (dtype) {
                case F32 -> elements.setAtIndex(ValueLayout.JAVA_FLOAT, i, values[i]);
                case BF16 ->
                    elements.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (Float.floatToRawIntBits(values[i]) >>> 16));
                case F16 -> elements.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(values[i]));
                case INT8 -> elements.set(ValueLayout.JAVA_BYTE, i, (byte) data.between(-127, 127));
                case STORED -> throw new IllegalArgumentException("blocks are not made here");
            }
        }
        return new HostMatrix(dtype, rows, columns, layout, elements, scales(dtype, rows, columns, data));
    }

    private static MemorySegment scales(DType dtype, int rows, int columns, RandomData data) {
        if (dtype != DType.INT8) {
            return MemorySegment.NULL;
        }
        int size = Math.ceilDiv(rows, DType.BLOCK) * columns;
        MemorySegment scales = Arena.ofAuto().allocate((long) size * Float.BYTES, Float.BYTES);
        MemorySegment.copy(data.floats(size), 0, scales, ValueLayout.JAVA_FLOAT, 0, size);
        return scales;
    }
}
