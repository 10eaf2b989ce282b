package io.github.tornadotransformers.taskgraphs.graphs;

/** How a program is cut into task graphs. */
public enum GraphMode {
    /** A graph for the embedding, one for the block, replayed for every layer, and one for the head: a kernel compiles once. */
    LAYERED,

    /** One graph for the whole forward pass of a token, every layer's kernels compiled for themselves. */
    FUSED
}
