package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Weights in the host's memory, for as long as an arena lives.
 *
 * @param arena one that several threads may use
 */
public record ArenaAllocator(Arena arena, WeightLayout layout) implements WeightAllocator {
    /** Row-major. */
    public ArenaAllocator(Arena arena) {
        this(arena, WeightLayout.ROW_MAJOR);
    }

    @Override
    public MemorySegment allocate(String name, long bytes) {
        try {
            return arena.allocate(bytes, ALIGNMENT);
        } catch (OutOfMemoryError e) {
            throw new CheckpointException(
                    "there is no memory for weight " + name + " (" + bytes + " bytes): try a smaller data type", e);
        }
    }

    /** Layer by layer: memory is cleared as it is allocated, which one thread alone would take long for. */
    @Override
    public List<MemorySegment> allocateLayers(String name, int layers, long layerBytes) {
        return IntStream.range(0, layers)
                .parallel()
                .mapToObj(_ -> allocate(name, layerBytes))
                .toList();
    }
}
