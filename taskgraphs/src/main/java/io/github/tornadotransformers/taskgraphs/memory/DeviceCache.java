package io.github.tornadotransformers.taskgraphs.memory;

import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/**
 * Keys or values as kernels take them: one of the arrays holds them, the other is not read.
 *
 * @param powers for kernels that read
 * @param bounds for kernels that store
 */
public record DeviceCache(
        Argument<FloatArray> floats,
        Argument<ShortArray> shorts,
        Argument<FloatArray> powers,
        Argument<FloatArray> bounds,
        Scalar<Integer> format) {
    /**
     * @param part which of the two it is
     * @param format a constant of {@link io.github.tornadotransformers.kernels.WeightFormat}
     */
    public static DeviceCache of(CacheKey.Part part, PlannedArray<?> elements, int format) {
        return new DeviceCache(
                elements.orUnread(ElementType.FLOAT, part.name()),
                elements.orUnread(ElementType.SHORT, part.name()),
                new ConstantKey.Powers(format),
                new ConstantKey.Bounds(format),
                Scalar.value(format));
    }
}
