package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.Wording;

/** A training run that cannot begin or go on. */
public class TrainingException extends TransformersException {
    public TrainingException(String message) {
        super(message);
    }

    public TrainingException(String message, Throwable cause) {
        super(message, cause);
    }

    public TrainingException(Wording wording) {
        super(wording);
    }
}
