package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A tensor of a safetensors file: where it is, not what it holds.
 *
 * @param dtype as the header spells it; it may be a type that no weight can have
 * @param shape row-major, outermost dimension first; empty for a scalar
 * @param offset of its first byte in the file
 */
public record StoredTensor(Path file, String name, String dtype, List<Long> shape, long offset, long bytes) {
    public StoredTensor {
        shape = List.copyOf(shape);
    }

    /** The element type, if a weight may have it. */
    public Optional<StoredType> type() {
        return StoredType.named(dtype);
    }

    /**
     * Maps the tensor's bytes, read-only, for as long as the arena lives. They need not be aligned.
     *
     * @throws CheckpointException if the file has changed since its header was read, or cannot be read
     */
    public MemorySegment map(Arena arena) {
        try (FileChannel channel = FileChannel.open(file)) {
            return channel.map(MapMode.READ_ONLY, offset, bytes, arena);
        } catch (IOException e) {
            throw CheckpointException.unreadable(file, e);
        }
    }
}
