package io.github.tornadotransformers.models.chat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.Quoted;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as the values of templates. */
public final class JsonValues {
    private JsonValues() {}

    /** Of any kind. */
    public static Object of(JsonNode json) {
        return switch (json.getNodeType()) {
            case OBJECT -> object(json);
            case ARRAY -> {
                List<Object> list = new ArrayList<>(json.size());
                json.forEach(element -> list.add(of(element)));
                yield list;
            }
            case BOOLEAN -> json.booleanValue();
            case STRING -> json.textValue();
            case NUMBER -> number(json);
            default -> null;
        };
    }

    /** Of an object. */
    public static Map<String, Object> object(JsonNode json) {
        Map<String, Object> map = new LinkedHashMap<>();
        json.properties().forEach(field -> map.put(field.getKey(), of(field.getValue())));
        return map;
    }

    private static Object number(JsonNode json) {
        if (!json.isIntegralNumber()) {
            return json.doubleValue();
        }
        return json.canConvertToLong() ? (Object) json.longValue() : json.bigIntegerValue();
    }

    static String excerpt(JsonNode json) {
        return Quoted.line(json.toString());
    }
}
