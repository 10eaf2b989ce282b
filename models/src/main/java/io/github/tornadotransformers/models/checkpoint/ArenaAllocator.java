package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

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
}
