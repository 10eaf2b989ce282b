package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A tensor of a checkpoint's file: where it is, not what it holds.
 *
 * @param dtype as the header spells it; it may be a type that no weight can have
 * @param shape row-major, outermost dimension first; empty for a scalar
 * @param offset of its first byte in the file
 * @param form in what it differs from the tensor of that name in Hugging Face's checkpoints
 */
public record StoredTensor(
        Path file, String name, String dtype, List<Long> shape, long offset, long bytes, TensorForm form) {
    /** Bytes of a single read; a buffer holds no more than an {@code int} counts. */
    private static final long MAX_READ = 1 << 30;

    public StoredTensor {
        shape = List.copyOf(shape);
    }

    /** As Hugging Face's checkpoints have it. */
    public StoredTensor(Path file, String name, String dtype, List<Long> shape, long offset, long bytes) {
        this(file, name, dtype, shape, offset, bytes, TensorForm.AS_NAMED);
    }

    /** The element type, if a weight may have it and it is no block format. */
    public Optional<StoredType> type() {
        return StoredType.named(dtype);
    }

    /** The block format, if it is one. */
    public Optional<BlockFormat> blocks() {
        return BlockFormat.named(dtype);
    }

    /** The type of the elements that {@link #elements} reads. */
    StoredType readType() {
        return blocks().isPresent() ? StoredType.F32 : type().orElseThrow();
    }

    /** The bytes of the elements, those of blocks as float32. */
    TensorBytes elements(TensorReader reader) {
        return blocks().<TensorBytes>map(format -> new BlockReader(format, reader))
                .orElse(reader);
    }

    /** The number of elements. */
    long elementCount() {
        return shape.stream().reduce(1L, Math::multiplyExact);
    }

    /** The bytes that as many elements of a type that weights have need. */
    long expectedBytes() {
        return blocks().map(format -> elementCount() / format.groupRows() * format.fileBytes())
                .orElseGet(() -> elementCount() * type().orElseThrow().bytes());
    }

    /**
     * The tensor's bytes, in memory of the arena.
     *
     * @throws io.github.tornadotransformers.models.CheckpointException if the file has become shorter since its header was
     *     read, or cannot be read
     */
    public MemorySegment read(Arena arena) {
        MemorySegment all = arena.allocate(bytes, Long.BYTES);
        try (TensorReader reader = new TensorReader(this)) {
            for (long from = 0; from < bytes; from += MAX_READ) {
                reader.read(from, all.asSlice(from, Math.min(MAX_READ, bytes - from)));
            }
        }
        return all;
    }
}
