package io.github.tornadotransformers.taskgraphs.memory;

import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** An array that there is one of: a constant beside those who use it. */
public record NamedKey<T extends TornadoNativeArray>(String name, ElementType<T> type) implements ArrayKey<T> {
    public static NamedKey<FloatArray> floats(String name) {
        return new NamedKey<>(name, ElementType.FLOAT);
    }

    public static NamedKey<IntArray> ints(String name) {
        return new NamedKey<>(name, ElementType.INT);
    }

    @Override
    public String toString() {
        return name;
    }
}
