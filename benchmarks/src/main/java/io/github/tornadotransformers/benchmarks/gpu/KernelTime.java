package io.github.tornadotransformers.benchmarks.gpu;

import io.github.tornadotransformers.benchmarks.gpu.KernelWork.Loads;
import java.util.Locale;

/**
 * What a launch takes: the launch itself, and the longest of what can go on at the same time. Those are
 *
 * <ul>
 *   <li>memory: bytes over the bandwidth that can be had, once the first load has arrived, and apart from what is before and behind;
 *   <li>cache: likewise, 32 bytes a cycle for each processor;
 *   <li>instructions: those of the processor that has most groups, of 128 items one a cycle;
 *   <li>waiting: an item's loads, as many at once as are on their way together, and its chain, as often as groups take turns on the
 *       processors. A load from memory takes up to twice its latency, as those on their way fill the bandwidth.
 * </ul>
 *
 * @param launchSeconds of the whole, the launch
 * @param bound what the kernel waits for
 */
public record KernelTime(double seconds, double launchSeconds, Bound bound) {
    /** What takes longest. */
    public enum Bound {
        LAUNCH,
        MEMORY,
        CACHE,
        INSTRUCTIONS,
        WAITING;

        /** For a table. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final double ITEMS_PER_CYCLE = 128;
    private static final int REGISTERS = 1 << 16;
    private static final int CACHE_BYTES_PER_CYCLE = 32;

    /** @param launchSeconds one of {@link Gpu.Launch} */
    static KernelTime of(KernelWork work, Gpu gpu, double launchSeconds) {
        double hertz = gpu.processors().hertz();
        double first = (work.apart()
                        + (work.loads().isEmpty() ? 0 : latency(work.loads().getFirst(), work, gpu)))
                / hertz;
        double memory = work.memoryBytes()
                / (gpu.memory().bytesPerSecond() * gpu.memory().attainable());
        double cache =
                work.cacheBytes() / (CACHE_BYTES_PER_CYCLE * gpu.processors().count() * hertz);
        double instructions =
                Math.ceilDiv(work.groups(), (long) gpu.processors().count())
                        * work.instructions()
                        * Math.max(1, work.group() / ITEMS_PER_CYCLE)
                        / hertz;
        double waiting = turns(work, gpu) * waitingCycles(work, gpu) / hertz;
        double busy = Math.max(waiting, first + Math.max(memory, Math.max(cache, instructions)));
        Bound bound = launchSeconds > busy
                ? Bound.LAUNCH
                : busy == waiting
                        ? Bound.WAITING
                        : memory >= Math.max(cache, instructions)
                                ? Bound.MEMORY
                                : cache >= instructions ? Bound.CACHE : Bound.INSTRUCTIONS;
        return new KernelTime(launchSeconds + busy, launchSeconds, bound);
    }

    private static double waitingCycles(KernelWork work, Gpu gpu) {
        double cycles = work.chain();
        for (Loads loads : work.loads()) {
            cycles += loads.rounds() * latency(loads, work, gpu);
        }
        return cycles;
    }

    /** How often the processors are filled; a group begins as another one ends, so that turns need not be whole. */
    private static double turns(KernelWork work, Gpu gpu) {
        return Math.max(1, (double) work.groups() / residentGroups(work, gpu));
    }

    private static long residentGroups(KernelWork work, Gpu gpu) {
        Gpu.Processors processors = gpu.processors();
        int each = Math.min(
                Math.min(processors.groups(), processors.items() / work.group()),
                REGISTERS / (work.registers() * work.group()));
        return (long) processors.count() * Math.max(1, each);
    }

    private static double latency(Loads loads, KernelWork work, Gpu gpu) {
        Gpu.Memory memory = gpu.memory();
        return switch (loads.from()) {
            case MEMORY -> {
                long items = Math.min(work.active(), residentGroups(work, gpu) * work.group());
                double inFlight = (double) items * Math.min(loads.inFlight(), loads.count()) * loads.bytes();
                double filling = memory.bytesPerSecond()
                        * memory.latency()
                        / gpu.processors().hertz();
                yield memory.latency() * (1 + Math.min(1, inFlight / filling));
            }
            case CACHE -> memory.cacheLatency();
            case NEAR -> memory.nearLatency();
        };
    }
}
