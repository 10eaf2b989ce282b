package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ResultStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** A command that has run in this process, and what it printed. */
record CommandRun(int exitCode, String out, String err) {
    static CommandRun of(String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Console console = new Console(
                new ResultStream(out),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                new ByteArrayInputStream(new byte[0]),
                Map.of(),
                false);
        int exitCode = new Commands(console).run(arguments);
        return new CommandRun(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }
}
