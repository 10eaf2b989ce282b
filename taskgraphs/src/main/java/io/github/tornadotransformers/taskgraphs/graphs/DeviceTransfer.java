package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;

/**
 * How a graph comes by an array on the device, or hands it on.
 *
 * @param essential whether results would be wrong without; else it only keeps memory that need not be allocated again
 */
public record DeviceTransfer(Movement movement, ArrayKey<?> array, boolean essential) {
    /** Ways to and from the device's memory. */
    public enum Movement {
        /** From the graph that ran just before. */
        CONSUME,

        /** From the host, at the graph's first execution. */
        UPLOAD_ONCE,

        /** From the host, at each execution. */
        UPLOAD_ALWAYS,

        /** Stays on the device after the execution, for this graph and the one that runs next. */
        PERSIST,

        /** To the host, at each execution. */
        DOWNLOAD
    }
}
