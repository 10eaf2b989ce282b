package io.github.tornadotransformers.runner.console;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * What a command sees of the world around it.
 *
 * @param out the result
 * @param err everything else
 * @param environment the variables of the process
 * @param terminal whether {@code out} and {@code err} are a terminal that someone watches
 */
public record Console(
        ResultStream out, PrintStream err, InputStream in, Map<String, String> environment, boolean terminal) {
    /** The launcher knows without loading the JVM's own terminal library. */
    private static final String TERMINAL = "transformers.terminal";

    public static Console ofProcess() {
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        ResultStream out = new ResultStream(new FileOutputStream(FileDescriptor.out));
        return new Console(out, err, System.in, System.getenv(), Boolean.getBoolean(TERMINAL));
    }

    /** A variable's value; empty where it is not set or blank. */
    public Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }
}
