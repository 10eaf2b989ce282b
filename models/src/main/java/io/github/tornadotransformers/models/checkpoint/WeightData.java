package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;

/**
 * The elements of a {@link Weight}: {@code [layers][rows][columns]}, little-endian.
 *
 * @param dtype {@code F32} for a weight of kind {@code FLOAT32}
 * @param layout the order within each layer; {@code ROW_MAJOR} for a weight of kind {@code FLOAT32}
 * @param elements {@code layers * rows * columns} elements of {@code dtype}
 * @param scales float32, {@code [layers][ceil(rows / 32)][columns]} for {@code INT8}; empty otherwise
 */
public record WeightData(
        Weight weight, DType dtype, WeightLayout layout, MemorySegment elements, MemorySegment scales) {
    /** As the canonical constructor, row-major. */
    public WeightData(Weight weight, DType dtype, MemorySegment elements, MemorySegment scales) {
        this(weight, dtype, WeightLayout.ROW_MAJOR, elements, scales);
    }

    /** The elements of one layer, {@code [rows][columns]} in the order of the layout. */
    public MemorySegment layer(int layer) {
        long bytes = weight.layerSize() * dtype.bytes();
        return elements.asSlice(layer * bytes, bytes);
    }

    /**
     * The scales of one layer, {@code [ceil(rows / 32)][columns]} in the order of the layout; empty unless the type is
     * {@code INT8}.
     */
    public MemorySegment layerScales(int layer) {
        if (dtype != DType.INT8) {
            return scales;
        }
        long bytes = layerScaleBytes(weight);
        return scales.asSlice(layer * bytes, bytes);
    }

    /**
     * Bytes of all elements of a weight.
     *
     * @throws ArithmeticException if a {@code long} cannot hold them
     */
    public static long elementBytes(Weight weight, DType dtype) {
        return Math.multiplyExact(weight.size(), (long) dtype.bytes());
    }

    /**
     * Bytes of all scales of an {@code INT8} weight.
     *
     * @throws ArithmeticException if a {@code long} cannot hold them
     */
    public static long scaleBytes(Weight weight) {
        return Math.multiplyExact(layerScaleBytes(weight), (long) weight.layers());
    }

    private static long layerScaleBytes(Weight weight) {
        long blocks = Math.ceilDiv(weight.rows(), DType.BLOCK);
        return Math.multiplyExact(Math.multiplyExact(blocks, (long) weight.columns()), (long) Float.BYTES);
    }
}
