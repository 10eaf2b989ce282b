package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.program.Weight;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** Layers of a weight: of its elements or of their scales. The host fills it before the device is first used. */
public record WeightKey<T extends TornadoNativeArray>(Weight weight, Part part, LayerRange layers, ElementType<T> type)
        implements ArrayKey<T> {
    /** What of a weight an array holds. */
    public enum Part {
        ELEMENTS,
        SCALES
    }

    @Override
    public String toString() {
        return (part == Part.SCALES ? "scales of " : "") + layers.nameOf(weight);
    }
}
