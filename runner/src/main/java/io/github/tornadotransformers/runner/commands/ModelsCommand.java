package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.hub.CachedFolder;
import io.github.tornadotransformers.runner.hub.KnownModel;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists the models that have a name. */
@Command(
        name = "models",
        description = "List the models in the cache, and the names that can be fetched.",
        sortOptions = false)
final class ModelsCommand implements Callable<Integer> {
    private final Console console;

    @Option(names = "--json", description = "print one JSON object: cache, cached, known")
    boolean json;

    @Mixin
    CommonOptions common;

    ModelsCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        ModelCache cache = new ModelCache(console);
        List<CachedModel> cached = cache.folders().stream().map(CachedModel::of).toList();
        console.out().print(json ? toJson(cache.root(), cached) + "\n" : toText(cache.root(), cached));
        return ExitCode.OK;
    }

    private static String toText(Path root, List<CachedModel> cached) {
        StringBuilder text = new StringBuilder("Shipped with the project, the defaults of gpt2 and llama:\n  ")
                .append(String.join("\n  ", ShippedModels.names()))
                .append("\n\nIn the cache, ")
                .append(root)
                .append(":\n");
        for (CachedModel model : cached) {
            text.append(String.format(
                    Locale.ROOT, "  %-16s %11s  %s%n", model.name(), ByteCount.words(model.bytes()), model.state()));
        }
        text.append(cached.isEmpty() ? "  nothing yet\n" : "").append("\nFetched when first named with -m:\n");
        for (KnownModel model : KnownModel.all()) {
            text.append(String.format(
                    "  %-16s %-6s %s%s%n",
                    model.name(),
                    model.family(),
                    model.description(),
                    model.gated() ? ", licence and HF_TOKEN needed" : ""));
        }
        return text.toString();
    }

    private static ObjectNode toJson(Path root, List<CachedModel> cached) {
        ObjectNode object = Json.object().put("cache", root.toString());
        ArrayNode cachedArray = Json.array();
        for (CachedModel model : cached) {
            cachedArray.add(model.toJson());
        }
        object.set("cached", cachedArray);
        ArrayNode known = Json.array();
        for (KnownModel model : KnownModel.all()) {
            known.add(Json.object()
                    .put("name", model.name())
                    .put("repository", model.repository())
                    .put("model_type", model.family())
                    .put("description", model.description())
                    .put("gated", model.gated()));
        }
        object.set("known", known);
        return object;
    }

    /**
     * A model in the cache.
     *
     * @param name that {@code -m} takes
     * @param modelType null where the checkpoint cannot be opened, as is {@code dtype}
     * @param problem why it cannot be opened; null where it can
     */
    private record CachedModel(
            String name, Path folder, long bytes, boolean complete, String modelType, String dtype, String problem) {
        static CachedModel of(CachedFolder cached) {
            String name = cached.name();
            Path folder = cached.folder();
            long bytes = bytes(folder);
            if (!ModelCache.isComplete(folder)) {
                return new CachedModel(name, folder, bytes, false, null, null, "not complete");
            }
            try {
                Checkpoint checkpoint = Checkpoint.open(folder);
                String dtype = EnumConverter.spelled(checkpoint.storedDType());
                return new CachedModel(
                        name, folder, bytes, true, checkpoint.config().modelType(), dtype, null);
            } catch (CheckpointException e) {
                return new CachedModel(name, folder, bytes, true, null, null, e.getMessage());
            }
        }

        private static long bytes(Path folder) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
                List<Long> sizes = new ArrayList<>();
                for (Path file : files) {
                    sizes.add(Files.isRegularFile(file) ? Files.size(file) : 0);
                }
                return sizes.stream().mapToLong(Long::longValue).sum();
            } catch (IOException e) {
                throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
            }
        }

        String state() {
            return problem == null ? modelType + ", " + dtype : problem;
        }

        ObjectNode toJson() {
            return Json.object()
                    .put("name", name)
                    .put("path", folder.toString())
                    .put("bytes", bytes)
                    .put("complete", complete)
                    .put("model_type", modelType)
                    .put("dtype", dtype)
                    .put("problem", problem);
        }
    }
}
