package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * A buffer of a stage.
 *
 * @param version counts from {@link #FIRST} where Ops that write the buffer anew get an array of their own
 */
public record ActivationKey(Stage stage, Buffer buffer, int version) implements ArrayKey<FloatArray> {
    public static final int FIRST = 1;

    @Override
    public ElementType<FloatArray> type() {
        return ElementType.FLOAT;
    }

    @Override
    public String toString() {
        return stage + " " + buffer.name() + (version == FIRST ? "" : " " + version);
    }
}
