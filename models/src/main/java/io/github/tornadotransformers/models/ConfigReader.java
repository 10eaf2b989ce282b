package io.github.tornadotransformers.models;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Typed, checked fields of a checkpoint's JSON object. A field that is {@code null} counts as absent. Whole numbers may be
 * written with an exponent or as {@code 12.0}; a number in quotation marks is refused.
 */
public final class ConfigReader {
    /** What many files write where there is no such token. */
    private static final int NO_TOKEN = -1;

    private final Path file;
    private final String scope;
    private final JsonNode object;
    private final Map<String, String> spelled;

    /** @param object the file's JSON object */
    public ConfigReader(Path file, JsonNode object) {
        this(file, object, Map.of());
    }

    /** @param spelled what messages call fields beside their names, where the file spells them in another way */
    public ConfigReader(Path file, JsonNode object, Map<String, String> spelled) {
        this(file, "", object, spelled);
    }

    private ConfigReader(Path file, String scope, JsonNode object, Map<String, String> spelled) {
        this.file = file;
        this.scope = scope;
        this.object = object;
        this.spelled = Map.copyOf(spelled);
    }

    /** Whether the field is there and is not {@code null}. */
    public boolean has(String field) {
        return object.hasNonNull(field);
    }

    /** Whether the field is there, be it {@code null}. */
    public boolean mentions(String field) {
        return object.has(field);
    }

    /** A required whole number in {@code [1, max]}. */
    public int count(String field, int max) {
        return wholeNumber(field, required(field, countWords(max)), 1, max);
    }

    /** As {@link #count}, but {@code otherwise} where absent. */
    public int countOr(String field, int max, int otherwise) {
        return has(field) ? count(field, max) : otherwise;
    }

    /** A token id, or the ids of a list, without {@link #NO_TOKEN}; none where absent. */
    public List<Integer> tokenIds(String field) {
        if (!has(field)) {
            return List.of();
        }
        JsonNode value = object.get(field);
        List<Integer> ids = new ArrayList<>();
        for (JsonNode each : value.isArray() ? value : List.of(value)) {
            tokenId(field, each).ifPresent(ids::add);
        }
        return List.copyOf(ids);
    }

    /** A token id; none where absent or {@link #NO_TOKEN}. */
    public OptionalInt tokenId(String field) {
        return has(field) ? tokenId(field, object.get(field)) : OptionalInt.empty();
    }

    private OptionalInt tokenId(String field, JsonNode value) {
        return value.isNumber() && value.doubleValue() == NO_TOKEN
                ? OptionalInt.empty()
                : OptionalInt.of(wholeNumber(field, value, 0, Integer.MAX_VALUE));
    }

    /** A whole number of at least 0; {@code otherwise} where absent. */
    public int countFromZeroOr(String field, int otherwise) {
        return has(field) ? wholeNumber(field, object.get(field), 0, Integer.MAX_VALUE) : otherwise;
    }

    /** A required finite number above 0. */
    public double positive(String field) {
        String expected = "a number above 0";
        double value = number(field, required(field, expected), expected);
        if (value <= 0) {
            throw rejected(field, expected);
        }
        return value;
    }

    public double positiveOr(String field, double otherwise) {
        return has(field) ? positive(field) : otherwise;
    }

    /** A required list of finite numbers above 0. */
    public List<Double> positives(String field) {
        String expected = "a list of numbers above 0";
        JsonNode value = required(field, expected);
        if (!value.isArray()) {
            throw rejected(field, expected);
        }
        List<Double> numbers = new ArrayList<>();
        for (JsonNode each : value) {
            double found = number(field, each, expected);
            if (found <= 0) {
                throw rejected(field, expected);
            }
            numbers.add(found);
        }
        return List.copyOf(numbers);
    }

    /** A list of texts; none where absent. */
    public Optional<List<String>> texts(String field) {
        if (!has(field)) {
            return Optional.empty();
        }
        JsonNode value = object.get(field);
        List<String> texts = new ArrayList<>();
        for (JsonNode each : value) {
            if (!each.isTextual()) {
                throw rejected(field, "a list of texts");
            }
            texts.add(each.textValue());
        }
        if (!value.isArray()) {
            throw rejected(field, "a list of texts");
        }
        return Optional.of(List.copyOf(texts));
    }

    /** A finite number of at least 0 that a float can hold. */
    public float epsilonOr(String field, float otherwise) {
        if (!has(field)) {
            return otherwise;
        }
        String expected = "a small number of at least 0";
        double value = number(field, object.get(field), expected);
        if (value < 0 || value > Float.MAX_VALUE) {
            throw rejected(field, expected);
        }
        return (float) value;
    }

    public boolean flagOr(String field, boolean otherwise) {
        if (!has(field)) {
            return otherwise;
        }
        JsonNode value = object.get(field);
        if (!value.isBoolean()) {
            throw rejected(field, "true or false");
        }
        return value.booleanValue();
    }

    public Optional<String> text(String field) {
        if (!has(field)) {
            return Optional.empty();
        }
        JsonNode value = object.get(field);
        if (!value.isTextual()) {
            throw rejected(field, "a text");
        }
        return Optional.of(value.textValue());
    }

    /** The fields of an object within this one. */
    public Optional<ConfigReader> section(String field) {
        if (!has(field)) {
            return Optional.empty();
        }
        JsonNode value = object.get(field);
        if (!value.isObject()) {
            throw rejected(field, "an object");
        }
        return Optional.of(new ConfigReader(file, scope + field + ".", value, Map.of()));
    }

    /** Refuses a field of any value but {@code null}: it stands for something that is not implemented. */
    public void requireAbsent(String field) {
        if (has(field)) {
            throw notImplemented(field, "none");
        }
    }

    /** Refuses any value but {@code neutral} of a field that is not implemented. */
    public void requireFlag(String field, boolean neutral) {
        if (flagOr(field, neutral) != neutral) {
            throw notImplemented(field, Boolean.toString(neutral));
        }
    }

    /** Refuses any value but {@code neutral} of a field that is not implemented. */
    public void requireNumber(String field, double neutral) {
        if (has(field) && number(field, object.get(field), "a number") != neutral) {
            throw notImplemented(field, Double.toString(neutral));
        }
    }

    /** That the field's value is wrong. */
    public CheckpointException rejected(String field, String expected) {
        return new CheckpointException(place(field) + " is " + shown(object.get(field)) + ", expected " + expected);
    }

    /** That the field's value asks for something that is not implemented. */
    public CheckpointException notImplemented(String field, String implemented) {
        return new CheckpointException(place(field) + " is " + shown(object.get(field))
                + ", which is not implemented; implemented: " + implemented);
    }

    /** That several fields do not fit together. */
    public CheckpointException contradiction(String words) {
        return new CheckpointException(Quoted.path(file) + ": " + scope + words);
    }

    private JsonNode required(String field, String expected) {
        if (!has(field)) {
            String state = mentions(field) ? " is null" : " is missing";
            throw new CheckpointException(place(field) + state + ", expected " + expected);
        }
        return object.get(field);
    }

    private int wholeNumber(String field, JsonNode value, int min, int max) {
        String expected = min == 1 ? countWords(max) : "a whole number from " + min + " to " + max;
        if (!value.isNumber()) {
            throw rejected(field, expected);
        }
        if (value.isIntegralNumber()) {
            BigInteger whole = value.bigIntegerValue();
            if (whole.bitLength() >= Integer.SIZE) {
                throw rejected(field, expected);
            }
        }
        double found = value.doubleValue();
        if (found != Math.rint(found) || found < min || found > max) {
            throw rejected(field, expected);
        }
        return (int) found;
    }

    private double number(String field, JsonNode value, String expected) {
        if (!value.isNumber() || !Double.isFinite(value.doubleValue())) {
            throw rejected(field, expected);
        }
        return value.doubleValue();
    }

    private static String countWords(int max) {
        return max == Integer.MAX_VALUE ? "a whole number of at least 1" : "a whole number from 1 to " + max;
    }

    private String place(String field) {
        String other = spelled.containsKey(field) ? " (" + spelled.get(field) + ")" : "";
        return Quoted.path(file) + ": " + scope + field + other;
    }

    private static String shown(JsonNode value) {
        if (value == null) {
            return "missing";
        }
        if (value.isContainerNode()) {
            return Quoted.line(value.toString());
        }
        return value.isTextual() ? Quoted.text(value.textValue()) : Quoted.line(value.asText());
    }
}
