package io.github.tornadotransformers.models;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A checkpoint that cannot be used. The message is for the user: it names the file, the tensor or field, what was found and
 * what was expected.
 */
public class CheckpointException extends TransformersException {
    public CheckpointException(String message) {
        super(message);
    }

    public CheckpointException(String message, Throwable cause) {
        super(message, cause);
    }

    public CheckpointException(Wording wording, Throwable cause) {
        super(wording, cause);
    }

    /** That a file of the checkpoint could not be read, and why. */
    public static CheckpointException unreadable(Path file, IOException cause) {
        String reason = switch (cause) {
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "no permission to read it";
            default -> IoReason.of(cause);
        };
        return new CheckpointException(Quoted.path(file) + " cannot be read: " + reason, cause);
    }
}
