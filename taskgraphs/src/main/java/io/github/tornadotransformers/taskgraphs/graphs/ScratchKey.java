package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * What a task hands to another of its stage, and nobody else reads.
 *
 * @param use what for: tasks that use it alike share the memory
 */
public record ScratchKey(Stage stage, String use) implements ArrayKey<FloatArray> {
    @Override
    public ElementType<FloatArray> type() {
        return ElementType.FLOAT;
    }

    @Override
    public String toString() {
        return stage + " " + use;
    }
}
