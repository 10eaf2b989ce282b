package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.models.chat.ChatOptions;
import io.github.tornadotransformers.models.chat.ChatTemplate;
import io.github.tornadotransformers.models.chat.JsonValues;
import io.github.tornadotransformers.runner.console.Failure;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options that say how a conversation is written down. */
final class ChatArguments {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String THINKING = "enable_thinking";

    @Option(
            names = "--template",
            paramLabel = "FILE",
            description = "a chat template (Jinja) instead of the model's own")
    Path template;

    @Option(
            names = "--variable",
            paramLabel = "NAME=VALUE",
            description = "a variable for the template, its value JSON or a text; may be given several times")
    Map<String, String> variables = Map.of();

    @Option(
            names = "--no-thinking",
            description = "the variable " + THINKING + " as false: answer without thinking first")
    boolean noThinking;

    /** Instead of the model's own. */
    Optional<ChatTemplate> template() {
        return Optional.ofNullable(template).map(ChatTemplate::ofFile);
    }

    boolean isGiven() {
        return template != null || noThinking || !variables.isEmpty();
    }

    ChatOptions options() {
        Map<String, Object> values = new LinkedHashMap<>();
        variables.forEach((name, text) -> values.put(name, value(text)));
        if (noThinking && values.put(THINKING, false) != null) {
            throw Failure.usage("--no-thinking and --variable " + THINKING + " are given, expected one of them");
        }
        return new ChatOptions(true, Optional.empty(), values);
    }

    private static Object value(String text) {
        try {
            return JsonValues.of(JSON.readTree(text));
        } catch (JacksonException e) {
            return text;
        }
    }
}
