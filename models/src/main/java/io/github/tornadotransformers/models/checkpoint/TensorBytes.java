package io.github.tornadotransformers.models.checkpoint;

import java.lang.foreign.MemorySegment;

/** The bytes of a tensor as stored, wherever they are. Several threads may read at the same time. */
@FunctionalInterface
interface TensorBytes {
    /** Fills {@code to} with the tensor's bytes from {@code offset} on. */
    void read(long offset, MemorySegment to);

    /** Of a tensor in memory. */
    static TensorBytes of(MemorySegment tensor) {
        return (offset, to) -> MemorySegment.copy(tensor, offset, to, 0, to.byteSize());
    }
}
