package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import io.github.tornadotransformers.models.checkpoint.RandomCheckpoint;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.Interruption;
import io.github.tornadotransformers.runner.console.Progress;
import io.github.tornadotransformers.runner.hub.CachedFolder;
import io.github.tornadotransformers.runner.hub.FolderTree;
import io.github.tornadotransformers.runner.hub.ModelCache;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Makes a checkpoint of random weights, to try a model's size without its download. */
@Command(
        name = "make",
        description = {
            "Make a checkpoint of random weights in the shape of a model: what it says is nonsense, but what it needs"
                    + " of time and memory is what that model needs.",
        },
        sortOptions = false)
final class ModelsMakeCommand implements Callable<Integer> {
    private static final long DEFAULT_FILE_BYTES = 5L << 30;

    private final Console console;

    @Parameters(paramLabel = "DIR", description = "where it goes: a new folder")
    Path folder;

    @Option(
            names = "--like",
            required = true,
            paramLabel = "NAME|DIR",
            description =
                    "the shape: a published model's name, such as Qwen3-0.6B, or a folder with a config.json, whose"
                            + " tokenizer is taken, too")
    String like;

    @Option(names = "--dtype", paramLabel = "TYPE", description = "of the weights: bf16 (default), f16, f32, f64")
    StoredType dtype = StoredType.BF16;

    @Option(names = "--seed", paramLabel = "N", description = "of the weights (default: ${DEFAULT-VALUE})")
    long seed = 1;

    @Option(
            names = "--file-size",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description = "of a file at most, such as 500M, unless one tensor has more (default: 5G)")
    long fileBytes = DEFAULT_FILE_BYTES;

    @Mixin
    CommonOptions common;

    ModelsMakeCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (fileBytes < 1) {
            throw Failure.usage("--file-size is " + fileBytes + ", expected 1 or more bytes");
        }
        Optional<Path> example = example();
        ModelConfig config = example.map(path -> Checkpoint.readConfig(path.resolve("config.json")))
                .or(() -> ModelPresets.like(like))
                .orElseThrow(
                        () -> Failure.of("--like " + like + " is neither a folder with a config.json, a model in the"
                                + " cache, nor one of " + String.join(", ", ModelPresets.names())));
        Path target = folder.toAbsolutePath().normalize();
        Path partial = target.resolveSibling(
                "." + target.getFileName() + "." + ProcessHandle.current().pid() + ".partial");
        try (Interruption interruption = Interruption.watch()) {
            requireRoom(target, RandomCheckpoint.bytes(config, dtype));
            return write(config, example, partial, target, interruption);
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be written: " + IoReason.of(e), e);
        }
    }

    private Optional<Path> example() {
        Path path = Path.of(like);
        Path given = path.endsWith("config.json") ? path.toAbsolutePath().getParent() : path;
        return Optional.of(given)
                .filter(each -> Files.isRegularFile(each.resolve("config.json")))
                .or(() -> new ModelCache(console)
                        .cached(like)
                        .map(CachedFolder::folder)
                        .filter(each -> Files.isRegularFile(each.resolve("config.json"))));
    }

    private void requireRoom(Path target, long bytes) throws IOException {
        if (Files.exists(target) && !isEmptyFolder(target)) {
            throw Failure.of(folder + " exists, expected the name of a new folder");
        }
        Files.createDirectories(target.getParent());
        long free = Files.getFileStore(target.getParent()).getUsableSpace();
        if (bytes > free) {
            throw Failure.of("the checkpoint needs " + ByteCount.words(bytes) + ", but only " + ByteCount.words(free)
                    + " are free in " + target.getParent());
        }
    }

    private static boolean isEmptyFolder(Path target) throws IOException {
        if (!Files.isDirectory(target)) {
            return false;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(target)) {
            return !entries.iterator().hasNext();
        }
    }

    /** Whole or not at all: beside its place first. */
    private int write(ModelConfig config, Optional<Path> example, Path partial, Path target, Interruption interruption)
            throws IOException {
        long bytes = RandomCheckpoint.bytes(config, dtype);
        try (Progress progress = Progress.of(console.status(), folder.toString(), Progress.Unit.BYTES, bytes)) {
            AtomicLong done = new AtomicLong();
            LongConsumer written = count -> {
                if (interruption.requested()) {
                    throw new CancellationException();
                }
                progress.update(done.addAndGet(count));
            };
            RandomCheckpoint.writeInFiles(partial, config, seed, dtype, fileBytes, written);
            if (example.isPresent()) {
                Tokenizer.copyFiles(example.get(), partial);
            }
            Files.deleteIfExists(target);
            Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (CancellationException _) {
            return ExitCode.INTERRUPTED;
        } finally {
            if (Files.exists(partial)) {
                FolderTree.delete(partial);
            }
        }
        console.err()
                .println(folder + ": " + config.modelType() + ", " + ByteCount.words(bytes) + " of random weights");
        return ExitCode.OK;
    }
}
