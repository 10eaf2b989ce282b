package io.github.tornadotransformers.taskgraphs.devices;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What is printed to {@link System#err} until this is closed: TornadoVM prints a compiler's log there, and its exception does
 * not hold it.
 */
public final class CapturedErrors implements AutoCloseable {
    private final PrintStream before = System.err;
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    public CapturedErrors() {
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    }

    /** The first line that speaks of an error, without colours and the name of a temporary file. */
    Optional<String> firstError() {
        return printed.toString(StandardCharsets.UTF_8)
                .lines()
                .map(CapturedErrors::plain)
                .filter(line -> line.contains("error:") || line.contains("Error:"))
                .map(line -> line.substring(Math.max(line.lastIndexOf("rror:") + "rror:".length(), 0))
                        .strip())
                .filter(line -> !line.isEmpty())
                .findFirst();
    }

    /** Without escape sequences. */
    static String plain(String text) {
        return text.replaceAll("\u001B\\[[0-9;]*m", "");
    }

    @Override
    public void close() {
        System.setErr(before);
    }
}
