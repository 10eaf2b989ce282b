package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.runner.CommandRun;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs commands in a JVM that TornadoVM's launcher has started: one a line of the first file, its arguments between tabs; of each,
 * a JSON object goes to the second.
 */
public final class CommandRuns {
    private CommandRuns() {}

    public static void main(String[] files) throws IOException {
        try (PrintStream results =
                new PrintStream(Files.newOutputStream(Path.of(files[1])), true, StandardCharsets.UTF_8)) {
            for (String line : Files.readAllLines(Path.of(files[0]))) {
                CommandRun run = CommandRun.of(line.split("\t"));
                ObjectNode result = Json.object().put("exit", run.exitCode());
                results.println(result.put("out", run.out()).put("err", run.err()));
            }
        }
    }
}
