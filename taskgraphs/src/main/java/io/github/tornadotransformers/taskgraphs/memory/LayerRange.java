package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.program.Weight;
import java.util.stream.IntStream;

/**
 * Layers that lie in one array.
 *
 * @param first counted from the model's first
 */
public record LayerRange(int first, int count) {
    /** Of what is not stacked over layers. */
    public static final LayerRange SINGLE = new LayerRange(0, 1);

    /** The name of a weight, and of which layers where this is a part of them. */
    public String nameOf(Weight weight) {
        return count == weight.layers() ? weight.name() : weight.name() + " of " + this;
    }

    /** The layers, counted from the model's first. */
    IntStream stream() {
        return IntStream.range(first, first + count);
    }

    @Override
    public String toString() {
        return count == 1 ? "layer " + first : "layers " + first + " to " + (first + count - 1);
    }
}
