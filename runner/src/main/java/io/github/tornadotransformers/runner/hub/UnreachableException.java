package io.github.tornadotransformers.runner.hub;

import java.io.IOException;

/** No connection: the message names the host and says why. */
final class UnreachableException extends IOException {
    /** @param cause null where it would tell too much */
    UnreachableException(String message, IOException cause) {
        super(message, cause);
    }
}
