package io.github.tornadotransformers.models;

/** An engine that cannot run what it was asked to, where it was asked to. */
public class EngineException extends TransformersException {
    public EngineException(Wording wording) {
        super(wording);
    }

    public EngineException(Wording wording, Throwable cause) {
        super(wording, cause);
    }

    public EngineException(String message) {
        super(message);
    }

    public EngineException(String message, Throwable cause) {
        super(message, cause);
    }
}
