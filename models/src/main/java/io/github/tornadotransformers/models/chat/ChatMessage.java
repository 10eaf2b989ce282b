package io.github.tornadotransformers.models.chat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.InvalidRequest;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A message of a conversation, as templates see it: {@code role}, {@code content}, and whatever else a template reads, such as
 * {@code tool_calls}.
 *
 * @param fields of JSON's kinds: null, {@code Boolean}, {@code Long}, {@code Double}, {@code String}, {@code List} and {@code Map}
 */
public record ChatMessage(Map<String, Object> fields) {
    public static final String SYSTEM = "system";
    public static final String USER = "user";
    public static final String ASSISTANT = "assistant";

    private static final String ROLE = "role";
    private static final String CONTENT = "content";

    public ChatMessage {
        fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
    }

    public static ChatMessage of(String role, String content) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(ROLE, role);
        fields.put(CONTENT, content);
        return new ChatMessage(fields);
    }

    public static ChatMessage system(String content) {
        return of(SYSTEM, content);
    }

    public static ChatMessage user(String content) {
        return of(USER, content);
    }

    public static ChatMessage assistant(String content) {
        return of(ASSISTANT, content);
    }

    /** @throws InvalidRequest if it is no object with a {@code role} */
    public static ChatMessage ofJson(JsonNode json) {
        if (!json.isObject() || !json.path(ROLE).isTextual()) {
            throw new InvalidRequest("a message is " + JsonValues.excerpt(json) + ", expected an object with a role");
        }
        return new ChatMessage(JsonValues.object(json));
    }

    public String role() {
        return (String) fields.get(ROLE);
    }

    /** Empty where there is none, or it is no text. */
    public String content() {
        return fields.get(CONTENT) instanceof String text ? text : "";
    }
}
