package io.github.tornadotransformers.runner.console;

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
}
