package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.gguf.GgufFile;
import io.github.tornadotransformers.models.gguf.GgufMetadata;
import io.github.tornadotransformers.models.gguf.GgufTokens;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The text of a model's chat template, as it lies beside its tokenizer.
 *
 * @param source what messages call the place
 * @param text of the template
 * @param forTools of another one, for conversations with tools
 */
public record StoredChatTemplate(String source, String text, Optional<String> forTools) {
    private static final String JINJA_FILE = "chat_template.jinja";
    private static final String JSON_FILE = "chat_template.json";
    private static final String FIELD = "chat_template";
    private static final String DEFAULT_NAME = "default";
    private static final String TOOLS_NAME = "tool_use";

    /**
     * From a GGUF file, or from a folder: {@code chat_template.jinja}, else {@code chat_template} of {@code tokenizer_config.json} or of
     * {@code chat_template.json}, a text or a list of named ones, of which {@code default} counts, and {@code tool_use}.
     *
     * @throws CheckpointException if a file cannot be read, or has it in another form
     */
    public static Optional<StoredChatTemplate> find(Path path) {
        return GgufFile.isGguf(path) ? ofGguf(path) : ofFolder(path);
    }

    private static Optional<StoredChatTemplate> ofGguf(Path file) {
        GgufMetadata metadata = GgufFile.open(file).metadata();
        return metadata.text(GgufTokens.CHAT_TEMPLATE)
                .map(text -> new StoredChatTemplate(
                        Quoted.path(file) + ": " + GgufTokens.CHAT_TEMPLATE,
                        text,
                        metadata.text(GgufTokens.TOOLS_TEMPLATE)));
    }

    private static Optional<StoredChatTemplate> ofFolder(Path folder) {
        Path jinja = folder.resolve(JINJA_FILE);
        if (Files.exists(jinja)) {
            return Optional.of(
                    new StoredChatTemplate(Quoted.path(jinja), TokenizerFiles.readText(jinja), Optional.empty()));
        }
        for (String name : List.of(TokenizerFiles.CONFIG, JSON_FILE)) {
            Path file = folder.resolve(name);
            Optional<JsonNode> value = TokenizerFiles.readOptional(file)
                    .map(object -> object.get(FIELD))
                    .filter(found -> !found.isNull());
            if (value.isPresent()) {
                return Optional.of(ofJson(value.get(), Quoted.path(file) + ": " + FIELD));
            }
        }
        return Optional.empty();
    }

    private static StoredChatTemplate ofJson(JsonNode value, String source) {
        if (value.isTextual()) {
            return new StoredChatTemplate(source, value.textValue(), Optional.empty());
        }
        Optional<String> byDefault = Optional.empty();
        Optional<String> forTools = Optional.empty();
        for (JsonNode each : value) {
            if (!each.path("name").isTextual() || !each.path("template").isTextual()) {
                throw new CheckpointException(source + " has " + Quoted.line(each.toString())
                        + ", expected a text, or objects with a name and a template");
            }
            Optional<String> text = Optional.of(each.get("template").textValue());
            switch (each.get("name").textValue()) {
                case DEFAULT_NAME -> byDefault = text;
                case TOOLS_NAME -> forTools = text;
                default -> {
                    // For something that is not done here.
                }
            }
        }
        return new StoredChatTemplate(
                source,
                byDefault.orElseThrow(() -> new CheckpointException(source + " has no template named " + DEFAULT_NAME)),
                forTools);
    }
}
