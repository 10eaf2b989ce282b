package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;

/**
 * Builds Jackson's tree from its parser. {@code NaN} and {@code Infinity}, which Python writes, are numbers: whoever reads the
 * field refuses them, and in a field that nobody reads they do no harm.
 *
 * <p>An {@code ObjectMapper} would do the same, but takes a quarter of a second to set itself up, which every start of the
 * program would wait for.
 */
final class JsonTree {
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private JsonTree() {}

    /** @return {@link MissingNode} for a text without any value */
    static JsonNode parse(byte[] text) throws IOException {
        try (JsonParser json = JSON.createParser(text)) {
            if (json.nextToken() == null) {
                return MissingNode.getInstance();
            }
            JsonNode root = value(json);
            if (json.nextToken() != null) {
                throw new JsonParseException(json, "there is more text after the end");
            }
            return root;
        }
    }

    private static JsonNode value(JsonParser json) throws IOException {
        return switch (json.currentToken()) {
            case START_OBJECT -> object(json);
            case START_ARRAY -> array(json);
            case VALUE_STRING -> NODES.textNode(json.getText());
            case VALUE_NUMBER_INT -> wholeNumber(json);
            case VALUE_NUMBER_FLOAT -> NODES.numberNode(json.getDoubleValue());
            case VALUE_TRUE -> NODES.booleanNode(true);
            case VALUE_FALSE -> NODES.booleanNode(false);
            case VALUE_NULL -> NODES.nullNode();
            default -> throw new IllegalStateException("a value cannot be " + json.currentToken());
        };
    }

    private static JsonNode object(JsonParser json) throws IOException {
        ObjectNode object = NODES.objectNode();
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String field = json.currentName();
            json.nextToken();
            object.set(field, value(json));
        }
        return object;
    }

    private static JsonNode array(JsonParser json) throws IOException {
        ArrayNode array = NODES.arrayNode();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            array.add(value(json));
        }
        return array;
    }

    private static JsonNode wholeNumber(JsonParser json) throws IOException {
        return switch (json.getNumberType()) {
            case INT -> NODES.numberNode(json.getIntValue());
            case LONG -> NODES.numberNode(json.getLongValue());
            default -> NODES.numberNode(json.getBigIntegerValue());
        };
    }
}
