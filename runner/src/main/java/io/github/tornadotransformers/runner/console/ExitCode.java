package io.github.tornadotransformers.runner.console;

import io.github.tornadotransformers.engine.MemoryException;
import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.InvalidRequest;

/** What the process ends with. */
public final class ExitCode {
    public static final int OK = 0;

    /** Something could not be done, or the answer is no. */
    public static final int FAILURE = 1;

    /** The call itself is wrong: an option, a value, a combination. */
    public static final int USAGE = 2;

    /** A requested engine could not run. */
    public static final int NO_ENGINE = 3;

    /** Ctrl-C: 128 and the number of SIGINT, as the JVM ends after its shutdown hooks. */
    public static final int INTERRUPTED = 130;

    /** Nobody reads the result any more: 128 and the number of SIGPIPE, as programs end that the signal kills. */
    public static final int CLOSED_PIPE = 141;

    private ExitCode() {}

    /** What a failure ends the process with. */
    public static int of(Throwable failure) {
        return switch (failure) {
            case Failure said -> said.exitCode();
            case InvalidRequest _ -> USAGE;
            case MemoryException _ -> FAILURE;
            case EngineException _ -> NO_ENGINE;
            default -> FAILURE;
        };
    }
}
