package io.github.tornadotransformers.models.generation;

import java.util.Locale;

/** Why a generation ended. */
public enum StopReason {
    /** As many tokens as were asked for. */
    LENGTH,
    /** The model chose one of its end tokens. */
    EOS,
    /** A stop text appeared. */
    STOP,
    /** No position is left for another token. */
    CONTEXT,
    /** The caller wanted no more, for instance after Ctrl-C. */
    CANCELLED;

    /** The name in JSON output. */
    public String jsonName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
