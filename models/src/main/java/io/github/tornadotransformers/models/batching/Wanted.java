package io.github.tornadotransformers.models.batching;

/** Of which tokens of a span the logits are wanted. */
public enum Wanted {
    NONE,
    LAST,
    ALL
}
