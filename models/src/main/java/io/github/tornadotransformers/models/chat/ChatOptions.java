package io.github.tornadotransformers.models.chat;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a conversation is written down.
 *
 * @param generationPrompt whether the beginning of the assistant's answer follows
 * @param tools that the model may call, JSON schemas as OpenAI and Hugging Face have them; empty: none
 * @param variables more that the template may ask for, such as {@code enable_thinking}
 */
public record ChatOptions(boolean generationPrompt, Optional<List<Object>> tools, Map<String, Object> variables) {
    public static final ChatOptions DEFAULT = new ChatOptions(true, Optional.empty(), Map.of());

    public ChatOptions {
        variables = Collections.unmodifiableMap(new LinkedHashMap<>(variables));
    }

    public ChatOptions withGenerationPrompt(boolean wanted) {
        return new ChatOptions(wanted, tools, variables);
    }

    public ChatOptions withTools(List<Object> given) {
        return new ChatOptions(generationPrompt, Optional.of(given), variables);
    }

    public ChatOptions withVariable(String name, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(variables);
        more.put(name, value);
        return new ChatOptions(generationPrompt, tools, more);
    }
}
