package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.kernels.ChecksumKernels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;

/** The checksums of {@link ChecksumKernels}, of what the host has. */
public final class Checksums {
    /** Lanes that a thread takes: neighbours, so that it reads whole lines of memory. */
    private static final int LANES_AT_ONCE = 1 << 10;

    private static final int HALF_BITS = 16;
    private static final int HALF = 0xFFFF;
    private static final int INFINITE = 0x7F80_0000;

    private Checksums() {}

    /** Of words. */
    public static int[] ofWords(MemorySegment words) {
        return of(words, false);
    }

    /** Of floats, by their bits; those that are subnormal count as 0, and NaN as infinite. */
    public static int[] ofFloats(MemorySegment floats) {
        return of(floats, true);
    }

    private static int[] of(MemorySegment elements, boolean floats) {
        int[] sums = new int[ChecksumKernels.LANES];
        IntStream.range(0, ChecksumKernels.LANES / LANES_AT_ONCE)
                .parallel()
                .forEach(part -> add(elements, floats, part * LANES_AT_ONCE, sums));
        return sums;
    }

    private static void add(MemorySegment elements, boolean floats, int firstLane, int[] sums) {
        long count = elements.byteSize() / Integer.BYTES;
        for (long first = firstLane; first < count; first += ChecksumKernels.LANES) {
            int lanes = (int) Math.min(LANES_AT_ONCE, count - first);
            for (int i = 0; i < lanes; i++) {
                int bits = elements.get(ValueLayout.JAVA_INT_UNALIGNED, (first + i) * Integer.BYTES);
                int word = floats ? canonical(bits) : bits;
                int sum = sums[firstLane + i];
                sum = (sum * ChecksumKernels.FACTOR + (word & HALF)) & ChecksumKernels.MASK;
                sum = (sum * ChecksumKernels.FACTOR + (word >>> HALF_BITS)) & ChecksumKernels.MASK;
                sums[firstLane + i] = sum;
            }
        }
    }

    private static int canonical(int bits) {
        int magnitude = bits & Integer.MAX_VALUE;
        return magnitude > INFINITE ? INFINITE : magnitude < 1 << 23 ? 0 : bits;
    }
}
