package io.github.tornadotransformers.taskgraphs;

import java.util.Locale;

/** A use of the program that has activations of its own. */
enum Stage {
    /** Embedding and blocks for one token. */
    DECODE,

    /** Embedding and blocks for many tokens. */
    PREFILL,

    /** From the residual stream of one row to its logits. */
    HEAD;

    /** The name of an array that belongs to this stage alone. */
    String array(String name) {
        return name().toLowerCase(Locale.ROOT) + "." + name;
    }
}
