package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * Memory for arrays that a driver pins. TornadoVM's CUDA and PTX backends register every array that a kernel writes with the
 * driver, which pins whole pages: arrays that share one are taken for pinned twice, and copies across the edge fail. What
 * kernels only read is copied through TornadoVM's own buffers ({@code tornado.staged.transfers}) and is never pinned.
 */
final class OwnPages {
    /** The largest page of the systems that TornadoVM runs on. */
    static final long PAGE = 64 << 10;

    private OwnPages() {}

    /** An array of zeros that shares no page with anything else; its elements are aligned as weights are. */
    static <T extends TornadoNativeArray> T allocate(PlannedArray<T> planned, Arena arena) {
        long start = WeightAllocator.ALIGNMENT - TornadoNativeArray.ARRAY_HEADER;
        long pages = Math.ceilDiv(Math.addExact(start, planned.bytes()), PAGE);
        MemorySegment memory = UntouchedMemory.allocate(pages * PAGE, PAGE, arena);
        return planned.key().type().over().apply(memory.asSlice(start, planned.bytes()));
    }
}
