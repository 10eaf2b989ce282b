package io.github.tornadotransformers.runner.console;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.Optional;

/**
 * What a command sees of the world around it.
 *
 * @param out the result
 * @param err everything else
 * @param environment the variables of the process
 * @param status how far something is, where {@code err} is a terminal
 */
public record Console(
        ResultStream out, Messages err, StandardInput in, Map<String, String> environment, StatusLine status) {
    /** The launcher knows without loading the JVM's own terminal library. */
    private static final String OUT_TERMINAL = "transformers.stdout.terminal";

    private static final String ERR_TERMINAL = "transformers.stderr.terminal";

    public static Console ofProcess() {
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        OutputStream err = new FileOutputStream(FileDescriptor.err);
        return new Console(
                Boolean.getBoolean(OUT_TERMINAL) ? ResultStream.onTerminal(out) : new ResultStream(out),
                Messages.to(err),
                StandardInput.ofProcess(),
                System.getenv(),
                Boolean.getBoolean(ERR_TERMINAL) ? StatusLine.on(err) : StatusLine.none());
    }

    /** Whether {@code out} and {@code err} are a terminal that someone watches. */
    public boolean terminal() {
        return out.isTerminal() && status.isTerminal();
    }

    /** A variable's value; empty where it is not set or blank. */
    public Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }
}
