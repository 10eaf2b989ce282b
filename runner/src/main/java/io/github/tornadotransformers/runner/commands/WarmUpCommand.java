package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.checkpoint.RandomCheckpoint;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.ResultStream;
import io.github.tornadotransformers.server.ModelServer;
import io.github.tornadotransformers.server.ServedModel;
import io.github.tornadotransformers.server.ServerSettings;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * Runs the usual commands on a tiny model of each family, so that the JVM loads what they need: the launcher has it archive the
 * loaded classes after a build, from which later starts are faster.
 */
@Command(name = "warm-up", hidden = true, description = "Load the classes that the commands need.", sortOptions = false)
final class WarmUpCommand implements Callable<Integer> {
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz";

    private final Console console;

    @Parameters(paramLabel = "DIR", description = "an empty folder for the models")
    Path folder;

    @Mixin
    CommonOptions common;

    WarmUpCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Path text = text();
        for (ModelFamily<?> family : ModelFamilies.all()) {
            String type = family.modelType();
            String command = Commands.has(type) ? type : "generate";
            Path model = write(type, family.examples().getFirst());
            run(command, "-m", model.toString(), "abc");
            run(command, "-m", model.toString(), "--json", "--greedy", "abc");
            run("tokenize", "-m", model.toString(), "abc");
            // The vector loops, which a short text of a small model does without.
            run("perplexity", "-m", model.toString(), text.toString());
        }
        talk(write("chat", ModelFamilies.all().getFirst().examples().getFirst()));
        return ExitCode.OK;
    }

    private Path text() {
        try {
            return Files.writeString(Files.createDirectories(folder).resolve("text"), "abcdefgh");
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be written: " + IoReason.of(e), e);
        }
    }

    /** What chats and the server need: one answer, and one that streams. */
    private void talk(Path model) {
        try {
            Files.writeString(
                    model.resolve("chat_template.jinja"), "{% for m in messages %}{{ m.content }}{% endfor %}");
            run("chat", "-m", model.toString());
            ServedModel served = new ServedModel("warm", () -> model, EngineSettings.of(EngineKind.HOST));
            try (ModelServer server = ModelServer.start(ServerSettings.DEFAULT.withPort(0), List.of(served))) {
                for (String streams : List.of("false", "true")) {
                    ask(
                            server,
                            "{\"messages\":[{\"role\":\"user\",\"content\":\"abc\"}],\"max_tokens\":2,\"receipt\":true,\"stream\":"
                                    + streams + "}");
                }
            }
        } catch (IOException e) {
            throw Failure.of("the server could not be asked: " + IoReason.of(e), e);
        }
    }

    private static void ask(ModelServer server, String body) throws IOException {
        try (Socket socket =
                new Socket(server.address().getHost(), server.address().getPort())) {
            socket.getOutputStream()
                    .write(
                            ("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
                                            + body.length() + "\r\n\r\n" + body)
                                    .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!answer.startsWith("HTTP/1.1 200")) {
                throw new IOException("the answer was " + answer);
            }
        }
    }

    private Path write(String name, ModelConfig config) {
        Path model = folder.resolve(name);
        try {
            RandomCheckpoint.write(model, config, 1, StoredType.F32);
            Files.writeString(model.resolve("tokenizer.json"), tokenizer().toString());
        } catch (IOException e) {
            throw Failure.of(model + " cannot be written: " + IoReason.of(e), e);
        }
        return model;
    }

    /** A tokenizer whose pieces are letters. */
    private static ObjectNode tokenizer() {
        ObjectNode json = Json.object().put("version", "1.0");
        for (String absent : List.of("normalizer", "pre_tokenizer", "post_processor", "decoder")) {
            json.putNull(absent);
        }
        json.putArray("added_tokens");
        ObjectNode model = json.putObject("model").put("type", "BPE");
        ObjectNode vocab = model.putObject("vocab");
        ALPHABET.chars().forEach(letter -> vocab.put(Character.toString(letter), vocab.size()));
        model.putArray("merges");
        return json;
    }

    private void run(String... arguments) {
        ResultStream nowhere = new ResultStream(OutputStream.nullOutputStream());
        int exitCode = new Commands(
                        new Console(nowhere, console.err(), console.in(), console.environment(), console.status()))
                .run(arguments);
        if (exitCode != ExitCode.OK) {
            throw Failure.of("the command " + arguments[0] + " ended with exit code " + exitCode);
        }
    }
}
