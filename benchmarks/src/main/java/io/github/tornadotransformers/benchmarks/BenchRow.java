package io.github.tornadotransformers.benchmarks;

/** A line of a result that a later run can be held against. */
public sealed interface BenchRow permits ModelRow, KernelRow, ProfileRow {
    /** What was run, where; equal in every run of the same. */
    String key();

    /** More is better. */
    Samples speed();

    /** The machine's, measured beside it; not a number where the engine is not the processor. */
    Limits limits();
}
