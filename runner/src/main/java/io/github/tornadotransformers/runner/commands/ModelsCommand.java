package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.hub.KnownModel;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import io.github.tornadotransformers.runner.hub.Source;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists the models that have a name. */
@Command(
        name = "models",
        customSynopsis = {
            "transformers models [OPTION]...",
            "       transformers models pull|show|rm NAME...",
            "       transformers models make --like NAME|DIR DIR"
        },
        description = "List the models in the cache, and the names that can be fetched.",
        sortOptions = false)
final class ModelsCommand implements Callable<Integer> {
    /** Of a commit's hash, as people write it. */
    private static final int SHORT_HASH = 12;

    private final Console console;

    @Option(names = "--json", description = "print one JSON object: cache, cached, known")
    boolean json;

    @Mixin
    CommonOptions common;

    ModelsCommand(Console console) {
        this.console = console;
    }

    @Spec
    void spec(CommandSpec spec) {
        spec.addSubcommand("pull", new CommandLine(new ModelsPullCommand(console)));
        spec.addSubcommand("show", new CommandLine(new ModelsShowCommand(console)));
        spec.addSubcommand("rm", new CommandLine(new ModelsRemoveCommand(console)));
        spec.addSubcommand("make", new CommandLine(new ModelsMakeCommand(console)));
    }

    @Override
    public Integer call() {
        ModelCache cache = new ModelCache(console);
        List<CachedModel> cached = cache.folders().stream().map(CachedModel::of).toList();
        console.out().print(json ? toJson(cache.root(), cached) + "\n" : toText(cache, cached));
        return ExitCode.OK;
    }

    private static String toText(ModelCache cache, List<CachedModel> models) {
        StringBuilder text = new StringBuilder("Shipped with the project, the defaults of gpt2 and llama:\n  ")
                .append(String.join("\n  ", ShippedModels.names()))
                .append('\n');
        append(
                text,
                "In the cache, " + cache.root(),
                models.stream().filter(model -> model.cached().ours()).toList());
        List<CachedModel> others =
                models.stream().filter(model -> !model.cached().ours()).toList();
        if (!others.isEmpty()) {
            append(text, "In the cache of Hugging Face's libraries, " + cache.hubCache(), others);
        }
        text.append("\nFetched when first named with -m, as is OWNER/NAME[@REVISION] of any model of a family here:\n");
        for (KnownModel model : KnownModel.all()) {
            text.append(String.format(
                    Locale.ROOT,
                    "  %-22s %11s  %-11s  %s at %s: %s%s%n",
                    model.name(),
                    ByteCount.words(model.bytes()),
                    model.family(),
                    model.repository(),
                    shortened(model.revision()),
                    model.title(),
                    model.gated() ? ", licence and HF_TOKEN needed" : ""));
        }
        return text.toString();
    }

    private static void append(StringBuilder text, String where, List<CachedModel> models) {
        text.append('\n').append(where).append(":\n");
        for (CachedModel model : models) {
            text.append(String.format(
                    Locale.ROOT,
                    "  %-22s %11s  %s%s%n",
                    model.cached().name(),
                    ByteCount.words(model.bytes()),
                    model.state(),
                    model.cached().source().map(ModelsCommand::words).orElse("")));
        }
        text.append(models.isEmpty() ? "  nothing yet\n" : "");
    }

    private static String words(Source source) {
        return ", " + source.repository() + " at " + shortened(source.revision());
    }

    private static String shortened(String revision) {
        return revision.substring(0, Math.min(revision.length(), SHORT_HASH));
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
                    .put("revision", model.revision())
                    .put("model_type", model.family())
                    .put("description", model.description())
                    .put("bytes", model.bytes())
                    .put("gated", model.gated()));
        }
        object.set("known", known);
        return object;
    }
}
