package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.hub.CachedFolder;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Says what a model that is here is, and where. */
@Command(
        name = "show",
        description = "Show what a model in a cache, or in a folder, is: where it is from, its shape, its files.",
        sortOptions = false)
final class ModelsShowCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(paramLabel = "NAME|DIR", description = "a name, or a checkpoint's folder")
    String name;

    @Option(names = "--json", description = "print one JSON object")
    boolean json;

    @Mixin
    CommonOptions common;

    ModelsShowCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        CachedModel model = CachedModel.of(folder());
        console.out().print(json ? toJson(model) + "\n" : toText(model));
        return ExitCode.OK;
    }

    private CachedFolder folder() {
        Path path = Path.of(name);
        if (Files.isDirectory(path)) {
            return new CachedFolder(name, path, Source.of(path), false);
        }
        ModelCache cache = new ModelCache(console);
        return cache.cached(name)
                .orElseThrow(() -> Failure.of(cache.onHub(name)
                        .map(source -> name + " is not here: `transformers models pull " + name + "` fetches "
                                + source.repository() + " at " + source.revision() + cache.didYouMean(name))
                        .orElseGet(() -> Quoted.text(name) + " is neither a folder nor a model's name"
                                + cache.didYouMean(name))));
    }

    private static String toText(CachedModel model) {
        CachedFolder cached = model.cached();
        StringBuilder text = new StringBuilder();
        cached.source().ifPresent(source -> {
            line(text, "repository", source.repository());
            line(
                    text,
                    "revision",
                    source.revision()
                            + source.asked().map(asked -> " (" + asked + ")").orElse(""));
        });
        line(text, "folder", cached.folder().toString());
        line(text, "size", ByteCount.words(model.bytes()));
        line(text, "family", model.state());
        model.checkpoint().ifPresent(checkpoint -> {
            ModelConfig config = checkpoint.config();
            line(text, "parameters", String.format(Locale.ROOT, "%,d", config.parameters()));
            line(
                    text,
                    "shape",
                    config.layers() + " layers, hidden " + config.sizes().hiddenSize() + ", MLP "
                            + config.sizes().intermediateSize() + ", "
                            + config.heads().heads() + " heads of "
                            + config.heads().headDim() + " (" + config.heads().kvHeads() + " of keys and values)");
            line(text, "vocabulary", String.valueOf(config.vocabSize()));
            line(text, "context", String.valueOf(config.contextLength()));
        });
        for (Path file : files(cached.folder())) {
            line(text, "file", file.getFileName() + ", " + ByteCount.words(bytes(file)));
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String what, String value) {
        text.append(String.format(Locale.ROOT, "%-11s %s%n", what, Quoted.line(value)));
    }

    private static ObjectNode toJson(CachedModel model) {
        ObjectNode object = model.toJson();
        Optional<ModelConfig> config = model.checkpoint().map(checkpoint -> checkpoint.config());
        config.ifPresent(each -> object.put("parameters", each.parameters())
                .put("layers", each.layers())
                .put("hidden_size", each.sizes().hiddenSize())
                .put("intermediate_size", each.sizes().intermediateSize())
                .put("heads", each.heads().heads())
                .put("kv_heads", each.heads().kvHeads())
                .put("head_dim", each.heads().headDim())
                .put("vocab_size", each.vocabSize())
                .put("context", each.contextLength()));
        ArrayNode files = Json.array();
        for (Path file : files(model.cached().folder())) {
            files.add(Json.object().put("name", file.getFileName().toString()).put("bytes", bytes(file)));
        }
        object.set("files", files);
        return object;
    }

    private static List<Path> files(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> !file.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private static long bytes(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw Failure.of(file + " cannot be read: " + IoReason.of(e), e);
        }
    }
}
