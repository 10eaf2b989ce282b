package io.github.tornadotransformers.runner;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.runner.commands.Commands;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Messages;
import io.github.tornadotransformers.runner.console.ResultStream;
import io.github.tornadotransformers.runner.console.StandardInput;
import io.github.tornadotransformers.runner.console.StatusLine;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** What a command printed and ended with, run inside this JVM. */
public record CommandRun(int exitCode, String out, String err) {
    public static CommandRun of(String... arguments) {
        return with(Map.of(), "", arguments);
    }

    /** @param in what is piped in; empty: nothing is */
    public static CommandRun with(Map<String, String> environment, String in, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = new Commands(console(environment, in, out, err)).run(arguments);
        return new CommandRun(exitCode, text(out), text(err));
    }

    public static Console console(
            Map<String, String> environment, String in, ByteArrayOutputStream out, ByteArrayOutputStream err) {
        InputStream bytes = new ByteArrayInputStream(in.getBytes(StandardCharsets.UTF_8));
        return new Console(
                new ResultStream(out),
                Messages.to(err),
                in.isEmpty() ? StandardInput.unpiped(bytes) : StandardInput.piped(bytes),
                environment,
                StatusLine.none());
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
