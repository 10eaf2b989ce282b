package io.github.tornadotransformers.runner.console;

/** Ends the command with one line for the user: what was found, what was expected, what to do. */
public final class Failure extends RuntimeException {
    private final int exitCode;

    private Failure(int exitCode, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    /** Something could not be done. */
    public static Failure of(String message) {
        return new Failure(ExitCode.FAILURE, message, null);
    }

    public static Failure of(String message, Throwable cause) {
        return new Failure(ExitCode.FAILURE, message, cause);
    }

    /** The call is wrong. */
    public static Failure usage(String message) {
        return new Failure(ExitCode.USAGE, message, null);
    }

    /** A requested engine cannot run here. */
    public static Failure noEngine(String message) {
        return new Failure(ExitCode.NO_ENGINE, message, null);
    }

    public int exitCode() {
        return exitCode;
    }
}
