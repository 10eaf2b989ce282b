package io.github.tornadotransformers.models.jinja;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** {@code value is name(arguments)}. */
final class Tests {
    private static final Set<String> NAMES = Set.of(
            "defined",
            "undefined",
            "none",
            "boolean",
            "true",
            "false",
            "integer",
            "float",
            "number",
            "string",
            "mapping",
            "iterable",
            "sequence",
            "callable",
            "sameas",
            "in",
            "eq",
            "equalto",
            "==",
            "ne",
            "!=",
            "lt",
            "lessthan",
            "<",
            "le",
            "<=",
            "gt",
            "greaterthan",
            ">",
            "ge",
            ">=",
            "odd",
            "even",
            "divisibleby",
            "lower",
            "upper");

    private Tests() {}

    /** The name, if there is such a test. */
    static String known(String name, int line) {
        if (!NAMES.contains(name)) {
            throw TemplateException.atLine(line, "the test '" + name + "' is not known");
        }
        return name;
    }

    static boolean holds(String name, Object given, Arguments arguments) {
        Object value = Markup.plain(given);
        return switch (name) {
            case "defined" -> !(value instanceof Undefined);
            case "undefined" -> value instanceof Undefined;
            case "none" -> value == null;
            case "boolean" -> value instanceof Boolean;
            case "true" -> Boolean.TRUE.equals(value);
            case "false" -> Boolean.FALSE.equals(value);
            case "integer" -> value instanceof Number && !(value instanceof Double);
            case "float" -> value instanceof Double;
            case "number" -> Values.isNumber(value);
            case "string" -> value instanceof String;
            case "mapping" -> value instanceof Map<?, ?>;
            case "iterable" ->
                value instanceof String
                        || value instanceof List<?>
                        || value instanceof Map<?, ?>
                        || value instanceof Generated
                        || value instanceof Undefined;
            case "sequence" ->
                value instanceof String
                        || value instanceof List<?>
                        || value instanceof Map<?, ?>
                        || value instanceof Undefined;
            case "callable" -> value instanceof Function || value instanceof Undefined;
            case "odd" -> Math.floorMod(Values.integer(value), 2L) == 1;
            case "even" -> Math.floorMod(Values.integer(value), 2L) == 0;
            case "lower" -> Strings.cased(Values.text(value), Character::isLowerCase, Character::isUpperCase);
            case "upper" -> Strings.cased(Values.text(value), Character::isUpperCase, Character::isLowerCase);
            default -> compared(name, value, arguments.require(0, "other"));
        };
    }

    private static boolean compared(String name, Object value, Object other) {
        return switch (name) {
            case "sameas" -> Values.equal(value, other);
            case "in" -> Values.contains(other, value);
            case "eq", "equalto", "==" -> Values.equal(value, other);
            case "ne", "!=" -> !Values.equal(value, other);
            case "lt", "lessthan", "<" -> Values.compare(value, other) < 0;
            case "le", "<=" -> Values.compare(value, other) <= 0;
            case "gt", "greaterthan", ">" -> Values.compare(value, other) > 0;
            case "ge", ">=" -> Values.compare(value, other) >= 0;
            case "divisibleby" -> {
                if (Values.integer(other) == 0) {
                    throw new TemplateException("division by zero");
                }
                yield Values.integer(value) % Values.integer(other) == 0;
            }
            default -> throw new IllegalStateException(name);
        };
    }
}
