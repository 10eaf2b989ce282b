package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;

/**
 * The elements of a {@link Weight}: {@code [layers][rows][columns]}, little-endian, in parts of whole layers, each of as many as
 * the first; the last may have fewer.
 *
 * @param dtype {@code F32} for a weight of kind {@code FLOAT32}
 * @param layout the order within each layer; {@code ROW_MAJOR} for a weight of kind {@code FLOAT32}
 * @param elements {@code layers * rows * columns} elements of {@code dtype}, in parts
 * @param scales float32, {@code [layers][ceil(rows / 32)][columns]} for {@code INT8}, in parts; none otherwise
 */
public record WeightData(
        Weight weight, DType dtype, WeightLayout layout, List<MemorySegment> elements, List<MemorySegment> scales) {
    public WeightData {
        elements = List.copyOf(elements);
        scales = List.copyOf(scales);
    }

    /** Row-major, in one part. */
    public WeightData(Weight weight, DType dtype, MemorySegment elements, MemorySegment scales) {
        this(
                weight,
                dtype,
                WeightLayout.ROW_MAJOR,
                List.of(elements),
                dtype == DType.INT8 ? List.of(scales) : List.of());
    }

    /** The elements of one layer, {@code [rows][columns]} in the order of the layout. */
    public MemorySegment layer(int layer) {
        return layer(elements, layer, weight.layerSize() * dtype.bytes());
    }

    /**
     * The scales of one layer, {@code [ceil(rows / 32)][columns]} in the order of the layout; empty unless the type is
     * {@code INT8}.
     */
    public MemorySegment layerScales(int layer) {
        return dtype == DType.INT8 ? layer(scales, layer, layerScaleBytes(weight)) : MemorySegment.NULL;
    }

    private static MemorySegment layer(List<MemorySegment> parts, int layer, long bytes) {
        int layersOfPart = Math.toIntExact(parts.getFirst().byteSize() / bytes);
        return parts.get(layer / layersOfPart).asSlice(layer % layersOfPart * bytes, bytes);
    }

    /** Bytes of all parts. */
    public long bytes() {
        return Stream.concat(elements.stream(), scales.stream())
                .mapToLong(MemorySegment::byteSize)
                .sum();
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
