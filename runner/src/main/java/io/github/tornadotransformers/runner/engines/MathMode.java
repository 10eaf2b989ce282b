package io.github.tornadotransformers.runner.engines;

import java.util.Locale;

/** How closely an engine keeps to the arithmetic contract. */
public enum MathMode {
    /** To the bit. */
    STRICT,

    /** It may fuse and approximate. */
    FAST;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
