package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/** Where the gradient of a buffer is added up: one array serves all that the buffer is. */
record BufferGradientKey(Buffer buffer) implements ArrayKey<FloatArray> {
    @Override
    public ElementType<FloatArray> type() {
        return ElementType.FLOAT;
    }

    @Override
    public String toString() {
        return "gradient of " + buffer.name();
    }
}
