package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.RandomCheckpoint;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.ResultStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * Runs the usual commands once on tiny models, so that the JVM loads what they need: the launcher has it archive the
 * loaded classes after a build, from which later starts are faster.
 */
@Command(name = "warm-up", hidden = true, description = "Load the classes that the commands need.", sortOptions = false)
final class WarmUpCommand implements Callable<Integer> {
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz";
    private static final int CONTEXT = 32;

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
        int words = ALPHABET.length();
        Path gpt2 = write("gpt2", new Gpt2Config(new Sizes(words, CONTEXT, 32, 64, 2), 2, 1e-5f, true, true));
        RopeScaling unscaled = new RopeScaling.None();
        Path llama = write(
                "llama",
                new LlamaConfig(
                        new Sizes(words, CONTEXT, 32, 64, 2),
                        new Heads(2, 1, 16),
                        new Rope(10_000, 16, unscaled),
                        1e-5f,
                        false,
                        false,
                        true));
        run("gpt2", "-m", gpt2.toString(), "abc");
        run("gpt2", "-m", gpt2.toString(), "--json", "--greedy", "abc");
        run("llama", "-m", llama.toString(), "abc");
        run("tokenize", "-m", llama.toString(), "abc");
        return ExitCode.OK;
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
