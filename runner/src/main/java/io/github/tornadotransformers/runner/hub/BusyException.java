package io.github.tornadotransformers.runner.hub;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** The hub asks to come again. */
final class BusyException extends IOException {
    private final transient Optional<Duration> pause;

    /** @param pause for how long it wants to be left alone, if it says so */
    BusyException(String message, Optional<Duration> pause) {
        super(message);
        this.pause = pause;
    }

    Optional<Duration> pause() {
        return pause;
    }
}
