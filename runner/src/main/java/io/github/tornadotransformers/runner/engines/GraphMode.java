package io.github.tornadotransformers.runner.engines;

/** How a program becomes task graphs; the host engines run the same either way. */
public enum GraphMode {
    /** One graph of the block, replayed for every layer. */
    LAYERED,

    /** The whole forward pass as one graph. */
    FUSED
}
