package io.github.tornadotransformers.runner;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.runner.commands.Commands;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ResultStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** What a command printed and ended with, run inside this JVM. */
public record CommandRun(int exitCode, String out, String err) {
    public static CommandRun of(String... arguments) {
        return with(Map.of(), "", arguments);
    }

    public static CommandRun with(Map<String, String> environment, String in, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = new Commands(console(environment, in, out, err)).run(arguments);
        return new CommandRun(exitCode, text(out), text(err));
    }

    public static Console console(
            Map<String, String> environment, String in, ByteArrayOutputStream out, ByteArrayOutputStream err) {
        return new Console(
                new ResultStream(out),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                new ByteArrayInputStream(in.getBytes(StandardCharsets.UTF_8)),
                environment,
                false);
    }

    /** The one JSON object that stdout must consist of. */
    public JsonNode json() {
        try {
            return new ObjectMapper().reader().readTree(out);
        } catch (IOException e) {
            throw new UncheckedIOException("not JSON: " + out + err, e);
        }
    }

    public List<String> errLines() {
        return err.lines().toList();
    }

    private static String text(ByteArrayOutputStream bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
