package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Where an engine wants its weights, and in which order. */
@FunctionalInterface
public interface WeightAllocator {
    /** The alignment that engines may count on. */
    long ALIGNMENT = 64;

    /**
     * Memory for the elements or the scales of one weight. It is written whole, by several threads, before it is read.
     *
     * @param name what the memory is for, for a message
     * @return exactly {@code bytes} of native memory, aligned to {@link #ALIGNMENT}, accessible from any thread
     */
    MemorySegment allocate(String name, long bytes);

    /**
     * As {@link #allocate}, in parts that need not lie together.
     *
     * @return parts of whole layers, each of as many as the first; the last may have fewer
     */
    default List<MemorySegment> allocateLayers(String name, int layers, long layerBytes) {
        return List.of(allocate(name, Math.multiplyExact(layers, layerBytes)));
    }

    /** The name of a weight's scales; that of its elements is the weight's. */
    static String scalesOf(Weight weight) {
        return weight.name() + ".scales";
    }

    /** The order of a matrix's elements. */
    default WeightLayout layout() {
        return WeightLayout.ROW_MAJOR;
    }
}
