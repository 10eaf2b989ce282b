package io.github.tornadotransformers.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.Quoted;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** The fields of a request, each asked for by its name; those that nobody has asked for are refused. Null is as if a field were missing. */
final class Fields {
    private final JsonNode json;
    private final String prefix;
    private final Set<String> asked = new HashSet<>();

    private Fields(JsonNode json, String prefix) {
        this.json = json;
        this.prefix = prefix;
    }

    static Fields of(JsonNode json) {
        if (!json.isObject()) {
            throw ApiException.invalid(null, "the request is " + excerpt(json) + ", expected a JSON object");
        }
        return new Fields(json, "");
    }

    static String excerpt(JsonNode json) {
        return json.isMissingNode() ? "empty" : Quoted.line(json.toString());
    }

    Optional<JsonNode> field(String name) {
        asked.add(name);
        JsonNode value = json.get(name);
        return value == null || value.isNull() ? Optional.empty() : Optional.of(value);
    }

    ApiException wrong(String name, JsonNode value, String expected) {
        return ApiException.invalid(prefix + name, prefix + name + " is " + excerpt(value) + ", expected " + expected);
    }

    JsonNode require(String name, String expected) {
        return field(name)
                .orElseThrow(
                        () -> ApiException.invalid(prefix + name, prefix + name + " is missing, expected " + expected));
    }

    Optional<Fields> object(String name) {
        return field(name).map(value -> {
            if (!value.isObject()) {
                throw wrong(name, value, "an object");
            }
            return new Fields(value, prefix + name + ".");
        });
    }

    Optional<String> text(String name) {
        return field(name).map(value -> {
            if (!value.isTextual()) {
                throw wrong(name, value, "a text");
            }
            return value.textValue();
        });
    }

    boolean flag(String name, boolean otherwise) {
        return field(name)
                .map(value -> {
                    if (!value.isBoolean()) {
                        throw wrong(name, value, "true or false");
                    }
                    return value.booleanValue();
                })
                .orElse(otherwise);
    }

    double number(String name, double otherwise) {
        return field(name)
                .map(value -> {
                    if (!value.isNumber()) {
                        throw wrong(name, value, "a number");
                    }
                    return value.doubleValue();
                })
                .orElse(otherwise);
    }

    OptionalLong whole(String name) {
        Optional<JsonNode> value = field(name);
        if (value.isEmpty()) {
            return OptionalLong.empty();
        }
        JsonNode number = value.get();
        boolean whole = number.isNumber() && number.doubleValue() == Math.rint(number.doubleValue());
        if (!whole || (number.isIntegralNumber() && !number.canConvertToLong())) {
            throw wrong(name, number, "a whole number");
        }
        return OptionalLong.of(number.longValue());
    }

    int whole(String name, int otherwise, int least, int most) {
        OptionalLong value = whole(name);
        if (value.isEmpty()) {
            return otherwise;
        }
        if (value.getAsLong() < least || value.getAsLong() > most) {
            throw wrong(name, json.get(name), least + " to " + (most == Integer.MAX_VALUE ? "any more" : most));
        }
        return (int) value.getAsLong();
    }

    /** One text, or a list of them. */
    List<String> texts(String name) {
        Optional<JsonNode> value = field(name);
        List<String> texts = new ArrayList<>();
        if (value.isEmpty()) {
            return texts;
        }
        if (value.get().isTextual()) {
            return List.of(value.get().textValue());
        }
        for (JsonNode each : value.get()) {
            if (!each.isTextual()) {
                throw wrong(name, value.get(), "a text, or a list of texts");
            }
            texts.add(each.textValue());
        }
        if (!value.get().isArray()) {
            throw wrong(name, value.get(), "a text, or a list of texts");
        }
        return texts;
    }

    static int[] ids(JsonNode array, String name) {
        int[] ids = new int[array.size()];
        for (int i = 0; i < ids.length; i++) {
            JsonNode each = array.get(i);
            if (!each.isIntegralNumber() || !each.canConvertToInt()) {
                throw ApiException.invalid(name, name + " has " + excerpt(each) + ", expected token ids");
            }
            ids[i] = each.intValue();
        }
        return ids;
    }

    /** Of a field that changes no answer. */
    void ignore(String... names) {
        asked.addAll(List.of(names));
    }

    /** Refuses fields that ask for what is not done. */
    void requireNoOthers() {
        json.properties().forEach(field -> {
            if (!asked.contains(field.getKey()) && !field.getValue().isNull()) {
                throw ApiException.unsupported(
                        prefix + field.getKey(), prefix + field.getKey() + " is not known, or not done by this server");
            }
        });
    }
}
