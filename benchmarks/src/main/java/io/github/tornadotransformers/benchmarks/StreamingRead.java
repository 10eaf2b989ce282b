package io.github.tornadotransformers.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.stream.IntStream;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * A sum over memory well beyond the last-level cache: the fastest that weights can come. It reads in eight places at once, as
 * more of a processor's prefetchers are then at work: a third faster here than reading from one end to the other.
 */
final class StreamingRead implements AutoCloseable {
    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int PLACES = 8;

    /**
     * Bytes between two places: a multiple of any vector, and so few that a warm-up's passes over the memory call the loop more often than
     * the compiler waits for (600 times); what it makes of a loop that is running already has an object for each vector.
     */
    private static final int STRETCH = 1 << 17;

    /** Bytes that a thread sums at a time. */
    private static final int BLOCK = PLACES * STRETCH;

    private static final long LEAST_BYTES = 256L << 20;
    private static final int CACHES = 4;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;

    /** Keeps the compiler from leaving out what nobody reads. */
    private volatile float last;

    /** Takes {@value #CACHES} times the last-level caches, 256 MiB at least. */
    StreamingRead() {
        this(Math.max(LEAST_BYTES, CACHES * CpuCaches.lastLevelBytes()));
    }

    /** @param bytes how much is read before anything is read again; rounded up to blocks */
    StreamingRead(long bytes) {
        int blocks = Math.toIntExact(Math.ceilDiv(bytes, (long) BLOCK));
        memory = arena.allocate((long) blocks * BLOCK, Long.BYTES * Long.BYTES);
        // Pages that nothing was written to are all the same page.
        IntStream.range(0, blocks)
                .parallel()
                .forEach(block -> memory.asSlice((long) block * BLOCK, BLOCK).fill((byte) 1));
    }

    /** Bytes of the memory that is read. */
    long bytes() {
        return memory.byteSize();
    }

    /** Calls of the loop that one pass takes. */
    long blocks() {
        return memory.byteSize() / BLOCK;
    }

    /**
     * Sums a thread's part of the memory once.
     *
     * @return how many bytes were read
     */
    long pass(int thread, int threads) {
        long blocks = blocks();
        long first = blocks * thread / threads;
        long end = blocks * (thread + 1) / threads;
        float sum = 0f;
        for (long block = first; block < end; block++) {
            sum += sum(memory.asSlice(block * BLOCK, BLOCK));
        }
        last = sum;
        return (end - first) * BLOCK;
    }

    private static float sum(MemorySegment block) {
        int step = FLOATS.vectorByteSize();
        FloatVector s0 = FloatVector.zero(FLOATS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        FloatVector s4 = s0;
        FloatVector s5 = s0;
        FloatVector s6 = s0;
        FloatVector s7 = s0;
        for (int at = 0; at < STRETCH; at += step) {
            s0 = s0.add(FloatVector.fromMemorySegment(FLOATS, block, at, ORDER));
            s1 = s1.add(FloatVector.fromMemorySegment(FLOATS, block, at + STRETCH, ORDER));
            s2 = s2.add(FloatVector.fromMemorySegment(FLOATS, block, at + 2 * STRETCH, ORDER));
            s3 = s3.add(FloatVector.fromMemorySegment(FLOATS, block, at + 3 * STRETCH, ORDER));
            s4 = s4.add(FloatVector.fromMemorySegment(FLOATS, block, at + 4 * STRETCH, ORDER));
            s5 = s5.add(FloatVector.fromMemorySegment(FLOATS, block, at + 5 * STRETCH, ORDER));
            s6 = s6.add(FloatVector.fromMemorySegment(FLOATS, block, at + 6 * STRETCH, ORDER));
            s7 = s7.add(FloatVector.fromMemorySegment(FLOATS, block, at + 7 * STRETCH, ORDER));
        }
        return s0.add(s1).add(s2).add(s3).add(s4).add(s5).add(s6).add(s7).lane(0);
    }

    float last() {
        return last;
    }

    @Override
    public void close() {
        arena.close();
    }
}
