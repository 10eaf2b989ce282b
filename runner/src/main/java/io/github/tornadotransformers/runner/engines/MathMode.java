package io.github.tornadotransformers.runner.engines;

/** How closely an engine keeps to the arithmetic contract. */
public enum MathMode {
    /** To the bit. */
    STRICT,

    /** It may fuse and approximate. */
    FAST
}
