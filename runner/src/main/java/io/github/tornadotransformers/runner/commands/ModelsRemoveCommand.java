package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.hub.CachedFolder;
import io.github.tornadotransformers.runner.hub.ModelCache;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Deletes models from our cache, and from nowhere else. */
@Command(name = "rm", description = "Delete models from the cache.", sortOptions = false)
final class ModelsRemoveCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(arity = "1..*", paramLabel = "NAME", description = "a name that `transformers models` lists")
    List<String> names;

    @Option(
            names = {"-y", "--yes"},
            description = "do not ask")
    boolean yes;

    @Mixin
    CommonOptions common;

    ModelsRemoveCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        ModelCache cache = new ModelCache(console);
        List<CachedFolder> models =
                names.stream().map(name -> ours(cache, name)).toList();
        for (CachedFolder model : models) {
            String size = ByteCount.words(CachedModel.of(model).bytes());
            if (!yes && !agrees("delete " + model.folder() + " (" + size + ")? [y/N] ")) {
                throw Failure.of(model.name() + " was not deleted");
            }
            cache.delete(model);
            console.err().println("deleted " + model.folder() + " (" + size + ")");
        }
        return ExitCode.OK;
    }

    private static CachedFolder ours(ModelCache cache, String name) {
        CachedFolder model = cache.cached(name)
                .orElseThrow(() -> Failure.of(
                        Files.isDirectory(Path.of(name))
                                ? name + " is a folder of yours, and not in the cache " + cache.root()
                                        + ": it is yours to delete"
                                : Quoted.text(name) + " is not in the cache " + cache.root() + cache.didYouMean(name)));
        if (!model.ours()) {
            throw Failure.of(
                    model.source().isPresent()
                            ? name + " is in the cache of Hugging Face's libraries, " + cache.hubCache()
                                    + ", which is not ours to delete from: `hf cache` does"
                            : name + " comes with the project");
        }
        return model;
    }

    private boolean agrees(String question) {
        console.err().print(question);
        console.err().flush();
        try {
            String answer = line();
            if (answer == null) {
                throw Failure.usage("nobody answers: --yes deletes without asking");
            }
            return List.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT));
        } catch (IOException e) {
            throw Failure.of("standard input cannot be read: " + IoReason.of(e), e);
        }
    }

    private String line() throws IOException {
        return new BufferedReader(new InputStreamReader(console.in().stream(), StandardCharsets.UTF_8)).readLine();
    }
}
