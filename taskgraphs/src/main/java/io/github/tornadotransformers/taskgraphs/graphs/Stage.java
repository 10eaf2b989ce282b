package io.github.tornadotransformers.taskgraphs.graphs;

import java.util.Locale;

/** A use of the program that has activations of its own. */
public enum Stage {
    /** Embedding and blocks for one token. */
    DECODE,

    /** Embedding and blocks for a few tokens. */
    SEVERAL,

    /** Embedding and blocks for many tokens. */
    PREFILL,

    /** From the residual stream of one row to its logits. */
    HEAD,

    /** The same of a few rows. */
    HEADS,

    /** Embedding and a block for a whole sequence whose activations are kept, and all gradients of activations. */
    TRAINING,

    /** From the residual stream of a whole sequence to its logits, whose activations are kept. */
    TRAINING_HEAD;

    /** Whether it begins with the residual stream of other rows, of which some are selected. */
    boolean selectsRows() {
        return this == HEAD || this == HEADS;
    }

    /** Whether there is a cache of every layer; training has one, which the next layer overwrites. */
    boolean keepsCache() {
        return this != TRAINING;
    }

    /** For a message. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
