package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * One line of {@code batch}: what it says itself, else the command line's.
 *
 * @param id as it was given; null where none was
 * @param text empty where ids are given
 * @param ids empty where a text is given
 */
record BatchRequest(
        JsonNode id,
        Optional<String> text,
        Optional<int[]> ids,
        int tokens,
        SamplingOptions sampling,
        List<String> stop) {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final String ID = "id";
    private static final String PROMPT = "prompt";
    private static final String PROMPT_IDS = "prompt_ids";
    private static final List<String> FIELDS = List.of(
            ID,
            PROMPT,
            PROMPT_IDS,
            "tokens",
            "temperature",
            "top_k",
            "top_p",
            "min_p",
            "repetition_penalty",
            "seed",
            "greedy",
            "stop");

    /**
     * What a line says where it says nothing.
     *
     * @param tokens that are generated at most
     */
    record Defaults(int tokens, SamplingOptions sampling, List<String> stop) {}

    /** @throws InvalidRequest that says what is wrong with the line */
    static BatchRequest parse(String line, Defaults defaults) {
        JsonNode object = read(line);
        if (!object.isObject()) {
            throw new InvalidRequest("the line is no JSON object, such as {\"id\": 1, \"prompt\": \"Once\"}");
        }
        Set<String> unknown = new TreeSet<>();
        object.fieldNames().forEachRemaining(unknown::add);
        FIELDS.forEach(unknown::remove);
        if (!unknown.isEmpty()) {
            throw new InvalidRequest(
                    "unknown field " + String.join(", ", unknown) + ", expected any of " + String.join(", ", FIELDS));
        }
        if (object.has(PROMPT) == object.has(PROMPT_IDS)) {
            throw new InvalidRequest(
                    "expected one of prompt and prompt_ids, found " + (object.has(PROMPT) ? "both" : "neither"));
        }
        return new BatchRequest(
                id(object),
                Optional.ofNullable(object.get(PROMPT)).map(node -> text(PROMPT, node)),
                Optional.ofNullable(object.get(PROMPT_IDS)).map(BatchRequest::ids),
                tokens(object, defaults.tokens),
                sampling(object, defaults.sampling),
                object.has("stop") ? stop(object.get("stop")) : defaults.stop);
    }

    /** The id of a line, whatever else is wrong with it; null where it has none. */
    static JsonNode idOf(String line) {
        try {
            return read(line).path(ID).isValueNode() ? id(read(line)) : null;
        } catch (InvalidRequest _) {
            return null;
        }
    }

    private static JsonNode read(String line) {
        try {
            return MAPPER.readTree(line);
        } catch (JsonProcessingException e) {
            throw new InvalidRequest("the line is no JSON: "
                    + e.getOriginalMessage().lines().findFirst().orElse(""));
        }
    }

    private static JsonNode id(JsonNode object) {
        JsonNode id = object.get(ID);
        if (id == null || id.isNull()) {
            return null;
        }
        if (!id.isTextual() && !id.isIntegralNumber()) {
            throw wrong(ID, "a text or a whole number", id);
        }
        return id;
    }

    private static String text(String field, JsonNode node) {
        if (!node.isTextual()) {
            throw wrong(field, "a text", node);
        }
        return node.textValue();
    }

    private static int[] ids(JsonNode node) {
        boolean isList = node.isArray();
        int[] ids = new int[node.size()];
        for (int i = 0; isList && i < ids.length; i++) {
            isList = node.get(i).canConvertToInt() && node.get(i).isIntegralNumber();
            ids[i] = node.get(i).intValue();
        }
        if (!isList) {
            throw wrong(PROMPT_IDS, "a list of token ids", node);
        }
        return ids;
    }

    private static int tokens(JsonNode object, int otherwise) {
        long tokens = whole(object, "tokens", otherwise);
        if (tokens < 1 || tokens > Integer.MAX_VALUE) {
            throw new InvalidRequest("tokens is " + tokens + ", expected 1 or more");
        }
        return (int) tokens;
    }

    private static SamplingOptions sampling(JsonNode object, SamplingOptions otherwise) {
        JsonNode greedy = object.path("greedy");
        if (!greedy.isMissingNode() && !greedy.isBoolean()) {
            throw wrong("greedy", "true or false", greedy);
        }
        long topK = whole(object, "top_k", otherwise.topK());
        if (topK > Integer.MAX_VALUE) {
            throw wrong("top_k", "a smaller number", object.get("top_k"));
        }
        return new SamplingOptions(
                number(object, "temperature", otherwise.temperature()),
                (int) topK,
                number(object, "top_p", otherwise.topP()),
                number(object, "min_p", otherwise.minP()),
                number(object, "repetition_penalty", otherwise.repetitionPenalty()),
                whole(object, "seed", otherwise.seed()),
                greedy.isBoolean() ? greedy.booleanValue() : otherwise.greedy());
    }

    private static double number(JsonNode object, String field, double otherwise) {
        JsonNode node = object.get(field);
        if (node == null) {
            return otherwise;
        }
        if (!node.isNumber()) {
            throw wrong(field, "a number", node);
        }
        return node.doubleValue();
    }

    private static long whole(JsonNode object, String field, long otherwise) {
        JsonNode node = object.get(field);
        if (node == null) {
            return otherwise;
        }
        if (!node.isIntegralNumber() || !node.canConvertToLong()) {
            throw wrong(field, "a whole number", node);
        }
        return node.longValue();
    }

    private static List<String> stop(JsonNode node) {
        if (!node.isArray()) {
            return List.of(text("stop", node));
        }
        List<String> texts = new ArrayList<>();
        node.forEach(each -> texts.add(text("stop", each)));
        return texts;
    }

    private static InvalidRequest wrong(String field, String expected, JsonNode found) {
        String shown = found.toString();
        return new InvalidRequest(field + " is " + (shown.length() > 40 ? shown.substring(0, 40) + "…" : shown)
                + ", expected " + expected);
    }
}
