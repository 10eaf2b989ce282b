package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.checkpoint.CheckpointWriter;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.training.tokenizer.BytePairEncoding;
import io.github.tornadotransformers.training.tokenizer.BytePairTrainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Learns a tokenizer from a text. */
@Command(
        name = "tokenizer",
        customSynopsis = "transformers train tokenizer FILE|- --vocab N --out DIR",
        description = {
            "Learn a byte-level byte-pair encoding from a text, and write it as tokenizer.json and"
                    + " tokenizer_config.json, which any tool reads. The same text gives the same files."
        },
        sortOptions = false)
final class TrainTokenizerCommand implements Callable<Integer> {
    private static final int MAX_VOCAB = 1 << 20;

    private final Console console;

    @Parameters(paramLabel = "FILE", description = "a UTF-8 text; - is standard input, as it is")
    String text;

    @Option(
            names = "--vocab",
            paramLabel = "N",
            required = true,
            description = "pieces to learn, the 256 bytes and <|endoftext|> among them")
    int vocab;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "where the files go")
    Path out;

    @Mixin
    CommonOptions common;

    TrainTokenizerCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (vocab > MAX_VOCAB) {
            throw Failure.usage("--vocab is " + vocab + ", expected at most " + MAX_VOCAB);
        }
        String contents = new TextInput(console).file(text);
        BytePairEncoding encoding = BytePairTrainer.train(contents, vocab);
        try {
            Files.createDirectories(out);
            CheckpointWriter.writeJson(out.resolve("tokenizer.json"), encoding.toTokenizerJson());
            CheckpointWriter.writeJson(out.resolve("tokenizer_config.json"), BytePairEncoding.toTokenizerConfigJson());
        } catch (IOException e) {
            throw Failure.of("the tokenizer cannot be written to " + out + ": " + IoReason.of(e), e);
        }
        console.err()
                .println(out + ": " + encoding.pieces().size() + " pieces, "
                        + encoding.merges().size() + " merges");
        return ExitCode.OK;
    }
}
