package io.github.tornadotransformers.training;

/** A training run that cannot begin or go on. The message is for the user. */
public class TrainingException extends RuntimeException {
    public TrainingException(String message) {
        super(message);
    }

    public TrainingException(String message, Throwable cause) {
        super(message, cause);
    }
}
