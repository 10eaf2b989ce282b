package io.github.tornadotransformers.models.program;

/** What an Op does to what its output held before. */
public enum Effect {
    /** Every element is written; what was there is lost. */
    OVERWRITES,

    /** The result is added to what was there. */
    ADDS,

    /** What was there is the Op's input. */
    IN_PLACE,

    /** The output is read and left as it is; what is written is the layer's cache. */
    STORES
}
