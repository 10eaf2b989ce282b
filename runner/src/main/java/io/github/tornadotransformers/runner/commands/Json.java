package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Builds the objects that {@code --json} prints. */
final class Json {
    private static final double THOUSANDTHS = 1000;

    private Json() {}

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    static ArrayNode array() {
        return JsonNodeFactory.instance.arrayNode();
    }

    static ArrayNode array(int[] values) {
        ArrayNode array = array();
        for (int value : values) {
            array.add(value);
        }
        return array;
    }

    /** A measurement, to three decimals. */
    static double rounded(double value) {
        return Math.round(value * THOUSANDTHS) / THOUSANDTHS;
    }

    static double milliseconds(long nanos) {
        return rounded(nanos / 1e6);
    }
}
