package io.github.tornadotransformers.models;

/** A caller asks for what cannot be: a value out of its range, settings that contradict each other, a prompt that does not fit. */
public final class InvalidRequest extends TransformersException {
    public InvalidRequest(Wording wording) {
        super(wording);
    }

    public InvalidRequest(String message) {
        super(message);
    }
}
