package io.github.tornadotransformers.engine;

/** Hears of a text while it is generated. */
@FunctionalInterface
public interface GenerationListener {
    /** Hears nothing. */
    GenerationListener NONE = _ -> {};

    /**
     * More of the text, as soon as it is certain: whole characters, never a part of a stop text. Comes in the thread that
     * generates.
     */
    void text(String piece);

    /** Asked before every forward pass: whether to generate no further. */
    default boolean isCancelled() {
        return false;
    }
}
