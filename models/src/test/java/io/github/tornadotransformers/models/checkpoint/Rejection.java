package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.tornadotransformers.models.CheckpointException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** What the user reads when a checkpoint is refused. */
final class Rejection {
    private Rejection() {}

    /** Runs what must be refused in one printable line; returns the line. */
    static String line(ThrowingCallable refused) {
        String message = message(refused);
        assertThat(message).doesNotContainPattern("\\p{Cntrl}");
        return message;
    }

    /** As {@link #line}, for what may take several. */
    static String message(ThrowingCallable refused) {
        CheckpointException rejection = catchThrowableOfType(CheckpointException.class, refused);
        assertThat(rejection).as("expected a rejection").isNotNull();
        return rejection.getMessage();
    }
}
