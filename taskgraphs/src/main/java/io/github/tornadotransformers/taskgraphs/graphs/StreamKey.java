package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/** The residual stream, which the stages of a forward pass share. */
record StreamKey(Buffer residual) implements ArrayKey<FloatArray> {
    @Override
    public ElementType<FloatArray> type() {
        return ElementType.FLOAT;
    }

    @Override
    public String toString() {
        return residual.name();
    }
}
