package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.checkpoint.DType;

/** A loop of an engine on arrays of some size: what it is, and what it must read, write and compute. */
public interface KernelShape {
    String name();

    /** Rows and sizes, for a reader. */
    String words();

    int rows();

    /** Of its matrix; float32 where it has none. */
    DType dtype();

    OpCost cost();

    /** The least time on a machine: for what comes from memory, and for the arithmetic. */
    double leastSeconds(Limits limits);
}
