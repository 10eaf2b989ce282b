package io.github.tornadotransformers.runner.console;

import java.io.IOException;

/** Whoever read the result is gone, as after {@code | head}: a reason to stop, not an error. */
public final class ClosedPipeException extends RuntimeException {
    ClosedPipeException(IOException cause) {
        super(cause);
    }
}
