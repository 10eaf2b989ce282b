package io.github.tornadotransformers.models;

import java.util.function.Function;

/**
 * What is thrown on purpose, for someone to mend: {@link InvalidRequest} by the caller, {@link CheckpointException} in the
 * model's folder, {@link EngineException} on the machine. The message is one line: what was found, what was expected, what to
 * do. Whatever else is thrown is a bug of this library.
 */
public abstract class TransformersException extends RuntimeException {
    private final transient Wording wording;

    protected TransformersException(Wording wording) {
        this(wording, null);
    }

    protected TransformersException(Wording wording, Throwable cause) {
        super(wording.toString(), cause);
        this.wording = wording;
    }

    protected TransformersException(String message) {
        this(Wording.ofText(message));
    }

    protected TransformersException(String message, Throwable cause) {
        this(Wording.ofText(message), cause);
    }

    /**
     * The message in the reader's own names.
     *
     * @param names how the reader calls each term
     */
    public final String message(Function<Term, String> names) {
        return wording == null ? getMessage() : wording.with(names); // null after deserialization
    }
}
