package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.Wording;

/** The machine's memory has no room for the model as it was asked for; in a narrower type, or with a smaller context, it may. */
public final class MemoryException extends EngineException {
    MemoryException(Wording wording) {
        super(wording);
    }
}
