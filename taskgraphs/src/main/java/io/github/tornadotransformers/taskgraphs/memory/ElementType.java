package io.github.tornadotransformers.taskgraphs.memory;

import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * What an array holds.
 *
 * @param array TornadoVM's class for it
 * @param bytes of an element
 * @param over makes an array over memory: a header, which is overwritten, then the elements
 */
public record ElementType<T extends TornadoNativeArray>(Class<T> array, int bytes, Function<MemorySegment, T> over) {
    public static final ElementType<FloatArray> FLOAT =
            new ElementType<>(FloatArray.class, Float.BYTES, FloatArray::fromSegmentShallow);
    public static final ElementType<ShortArray> SHORT =
            new ElementType<>(ShortArray.class, Short.BYTES, ShortArray::fromSegmentShallow);
    public static final ElementType<IntArray> INT =
            new ElementType<>(IntArray.class, Integer.BYTES, IntArray::fromSegmentShallow);
}
