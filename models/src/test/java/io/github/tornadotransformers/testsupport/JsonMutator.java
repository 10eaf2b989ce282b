package io.github.tornadotransformers.testsupport;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Breaks JSON where its structure matters: values of other kinds and sizes, fields gone, doubled, renamed and moved. */
public final class JsonMutator {
    private static final JsonMapper JSON = new JsonMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final String DEEP = "[".repeat(60) + "]".repeat(60);
    private static final String[] VALUES = {
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1",
        "2",
        "7",
        "255",
        "65536",
        "2147483647",
        "2147483648",
        "-2147483649",
        "9223372036854775807",
        "1208925819614629174706176",
        "0.5",
        "-0.0",
        "1e308",
        "1e-320",
        "1e999",
        "\"\"",
        "\" \"",
        "\"a\"",
        "\"é\"",
        "\"▁\"",
        "\"Ġ\"",
        "\"🦙\"",
        "\"\\ud800\"",
        "\"\\u0000\"",
        "\"\\n\"",
        "\"<s>\"",
        "\"-1\"",
        "\"../x\"",
        "\"NaN\"",
        "[]",
        "{}",
        "[0]",
        "[\"a\", \"b\"]",
        DEEP,
    };
    /** Of a text's characters, when one is changed in place. */
    private static final String TELLING = "{}[]\",:-0159.eE \\/tfn\u0000é";

    private final SplittableRandom random;
    private final List<JsonNode> parts;

    /** @param parts that the format knows, to be put in odd places */
    public JsonMutator(SplittableRandom random, List<JsonNode> parts) {
        this.random = random;
        this.parts = parts;
    }

    /** The value as text, with up to four changes; sometimes none, sometimes no JSON any more. */
    public String mutated(JsonNode value) {
        JsonNode changed = value.deepCopy();
        for (int changes = random.nextInt(5); changes > 0; changes--) {
            JsonNode next = changedSomewhere(changed);
            changed = next.isMissingNode() ? changed : next;
        }
        String text = changed.toString();
        return withSurrogatesEscaped(random.nextInt(20) == 0 ? withOneCharacterChanged(text) : text);
    }

    /** Halves of pairs can be written in no encoding. */
    private static String withSurrogatesEscaped(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(codePoint -> {
            if (Character.getType(codePoint) == Character.SURROGATE) {
                escaped.append(String.format("\\u%04x", codePoint));
            } else {
                escaped.appendCodePoint(codePoint);
            }
        });
        return escaped.toString();
    }

    private String withOneCharacterChanged(String text) {
        int place = random.nextInt(text.length());
        char other = TELLING.charAt(random.nextInt(TELLING.length()));
        return switch (random.nextInt(3)) {
            case 0 -> text.substring(0, place);
            case 1 -> text.substring(0, place) + other + text.substring(place);
            default -> text.substring(0, place) + other + text.substring(place + 1);
        };
    }

    /** Goes down at random and changes what is there; a missing node is to be removed. */
    private JsonNode changedSomewhere(JsonNode node) {
        if (node.isEmpty() || random.nextInt(5) == 0) {
            return changed(node);
        }
        if (node instanceof ArrayNode array) {
            int index = random.nextInt(array.size());
            JsonNode child = changedSomewhere(array.get(index));
            if (child.isMissingNode()) {
                array.remove(index);
            } else {
                array.set(index, child);
            }
        } else if (node instanceof ObjectNode object) {
            String name = anyName(object);
            JsonNode child = changedSomewhere(object.get(name));
            if (child.isMissingNode()) {
                object.remove(name);
            } else {
                object.set(name, child);
            }
        }
        return node;
    }

    private JsonNode changed(JsonNode node) {
        return switch (random.nextInt(10)) {
            case 0 -> MissingNode.getInstance();
            case 1 ->
                parts.isEmpty()
                        ? anyValue()
                        : parts.get(random.nextInt(parts.size())).deepCopy();
            case 2 -> NODES.arrayNode().add(node.deepCopy());
            case 3, 4 -> anyValue();
            default -> changedByKind(node);
        };
    }

    private JsonNode anyValue() {
        try {
            return JSON.readTree(VALUES[random.nextInt(VALUES.length)]);
        } catch (JacksonException e) {
            throw new AssertionError(e);
        }
    }

    private JsonNode changedByKind(JsonNode node) {
        return switch (node.getNodeType()) {
            case NUMBER -> changedNumber(node);
            case STRING -> NODES.textNode(changedText(node.textValue()));
            case BOOLEAN -> NODES.booleanNode(!node.booleanValue());
            case ARRAY -> changedArray((ArrayNode) node);
            case OBJECT -> changedObject((ObjectNode) node);
            default -> anyValue();
        };
    }

    private JsonNode changedNumber(JsonNode node) {
        if (!Double.isFinite(node.doubleValue())) {
            return anyValue();
        }
        BigInteger value = node.bigIntegerValue();
        return switch (random.nextInt(5)) {
            case 0 -> NODES.numberNode(value.add(BigInteger.ONE));
            case 1 -> NODES.numberNode(value.subtract(BigInteger.ONE));
            case 2 -> NODES.numberNode(value.negate());
            case 3 -> NODES.numberNode(value.shiftLeft(random.nextInt(64)));
            default -> NODES.numberNode(node.doubleValue() / 3);
        };
    }

    private String changedText(String text) {
        int place = text.isEmpty() ? 0 : random.nextInt(text.length());
        return switch (random.nextInt(4)) {
            case 0 -> text.substring(0, place);
            case 1 -> text.substring(place);
            case 2 -> text + text;
            default -> text.substring(0, place) + "\u0120é" + text.substring(place);
        };
    }

    private ArrayNode changedArray(ArrayNode array) {
        if (array.isEmpty()) {
            return array.add(anyValue());
        }
        int from = random.nextInt(array.size());
        int to = random.nextInt(array.size());
        if (random.nextBoolean()) {
            array.insert(to, array.get(from).deepCopy());
        } else {
            array.set(to, array.get(from).deepCopy());
        }
        return array;
    }

    private ObjectNode changedObject(ObjectNode object) {
        if (object.isEmpty()) {
            return object.set("a", anyValue());
        }
        String from = anyName(object);
        String to = random.nextBoolean() ? anyName(object) : changedText(from);
        JsonNode moved = object.get(from);
        if (random.nextBoolean()) {
            object.remove(from);
        }
        return object.set(to, moved.deepCopy());
    }

    private String anyName(ObjectNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names.get(random.nextInt(names.size()));
    }
}
