package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.GgufExport;
import io.github.tornadotransformers.models.gguf.GgufTensorType;
import io.github.tornadotransformers.models.tokenizer.GgufVocabulary;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.hub.ModelCache;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes a model for other programs. */
@Command(
        name = "export",
        customSynopsis = "transformers export MODEL --gguf FILE [--type TYPE]",
        description = "Write a model, with its tokenizer, as a GGUF file, which llama.cpp runs.",
        sortOptions = false)
final class ExportCommand implements Callable<Integer> {
    private static final String GGUF = "--gguf";

    /** The types that are written. */
    enum Type {
        F32,
        F16,
        BF16,
        Q8_0,
        Q4_0
    }

    private final Console console;

    @Parameters(
            paramLabel = "MODEL",
            description = "a checkpoint's folder, a GGUF file, or a name that `transformers models` lists")
    String model;

    @Option(names = GGUF, paramLabel = "FILE", required = true, description = "where the model goes")
    Path file;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            description = "of matrices: f32, f16, bf16, q8_0, q4_0 (default: ${DEFAULT-VALUE}); vectors are f32")
    Type type = Type.F16;

    @Mixin
    CommonOptions common;

    ExportCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        WrittenFile.require(GGUF, file);
        Checkpoint checkpoint = Checkpoint.open(new ModelCache(console).checkpoint(model));
        checkpoint.notices().forEach(console.err()::println);
        try {
            GgufExport.write(
                    file,
                    checkpoint,
                    GgufTensorType.valueOf(type.name()),
                    GgufVocabulary.of(checkpoint.path(), checkpoint.config().vocabSize()));
        } catch (IOException e) {
            throw Failure.of(file + " cannot be written: " + IoReason.of(e), e);
        }
        console.err().println(file + ": " + checkpoint.config().modelType() + ", " + EnumConverter.spelled(type));
        return ExitCode.OK;
    }
}
