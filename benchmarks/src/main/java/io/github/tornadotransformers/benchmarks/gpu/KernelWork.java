package io.github.tornadotransformers.benchmarks.gpu;

import java.util.List;

/**
 * What one launch of a kernel asks of a GPU.
 *
 * @param active work items that have something to do
 * @param group work items of a group
 * @param registers of a work item
 * @param memoryBytes of weights and of keys and values, which are too many for a cache
 * @param cacheBytes of what a kernel before has just written, or other work items have just read
 * @param instructions of an active work item
 * @param loads of an active work item, kind by kind: each kind waits for the one before
 * @param chain cycles of an active work item in which each instruction waits for the one before
 * @param apart those of them before its first load from memory and behind its last one: memory waits as well
 */
public record KernelWork(
        long active,
        int group,
        int registers,
        long memoryBytes,
        long cacheBytes,
        double instructions,
        List<Loads> loads,
        double chain,
        double apart) {
    /** Where a load finds its data. */
    public enum Level {
        MEMORY,
        /** The cache that all processors share. */
        CACHE,
        /** A processor's own cache. */
        NEAR
    }

    /**
     * Loads of one work item.
     *
     * @param inFlight of them on their way at once
     * @param bytes of each
     */
    public record Loads(Level from, long count, int inFlight, int bytes) {
        /** How often the item waits for loads to arrive. */
        long rounds() {
            return Math.ceilDiv(count, (long) inFlight);
        }
    }

    public KernelWork {
        loads = List.copyOf(loads);
    }

    /** Of those on their way from memory, the most of one item; 0 if it loads nothing from there. */
    public int inFlight() {
        return loads.stream()
                .filter(each -> each.from() == Level.MEMORY)
                .mapToInt(Loads::inFlight)
                .max()
                .orElse(0);
    }

    long groups() {
        return Math.max(1, Math.ceilDiv(active, (long) group));
    }
}
