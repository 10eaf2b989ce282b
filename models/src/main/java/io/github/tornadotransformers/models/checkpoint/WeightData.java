package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;

/**
 * The elements of a {@link Weight}: {@code [layers][rows][columns]}, row-major, little-endian.
 *
 * @param dtype {@code F32} for a weight of kind {@code FLOAT32}
 * @param elements {@code layers * rows * columns} elements of {@code dtype}
 * @param scales float32, {@code [layers][ceil(rows / 32)][columns]} for {@code INT8}; empty otherwise
 */
public record WeightData(Weight weight, DType dtype, MemorySegment elements, MemorySegment scales) {
    /** The elements of one layer, {@code [rows][columns]}. */
    public MemorySegment layer(int layer) {
        long bytes = weight.layerSize() * dtype.bytes();
        return elements.asSlice(layer * bytes, bytes);
    }

    /** The scales of one layer, {@code [ceil(rows / 32)][columns]}; empty unless the type is {@code INT8}. */
    public MemorySegment layerScales(int layer) {
        if (dtype != DType.INT8) {
            return scales;
        }
        long bytes = Math.ceilDiv(weight.rows(), DType.BLOCK) * (long) weight.columns() * Float.BYTES;
        return scales.asSlice(layer * bytes, bytes);
    }
}
