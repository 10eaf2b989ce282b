package io.github.tornadotransformers.models.jinja;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Python's {@code json.dumps}.
 *
 * @param indent spaces of a level, or what is written for a level; null: all in one line
 */
record Json(boolean ascii, String indent, String itemSeparator, String keySeparator, boolean sorted) {
    private static final int DEEPEST = 200;

    /** @param arguments {@code ensure_ascii}, {@code indent}, {@code separators}, {@code sort_keys} */
    static Json of(Arguments arguments) {
        Object indent = arguments.get(1, "indent", null);
        String level = switch (indent) {
            case null -> null;
            case String text -> text;
            default -> " ".repeat(Math.clamp(Values.integer(indent), 0, 100));
        };
        Object separators = arguments.get(2, "separators", null);
        if (separators instanceof List<?> pair && pair.size() == 2) {
            return new Json(
                    arguments.truth(0, "ensure_ascii", false),
                    level,
                    Values.string(pair.get(0)),
                    Values.string(pair.get(1)),
                    arguments.truth(3, "sort_keys", false));
        }
        return new Json(
                arguments.truth(0, "ensure_ascii", false),
                level,
                level == null ? ", " : ",",
                ": ",
                arguments.truth(3, "sort_keys", false));
    }

    String text(Object value) {
        StringBuilder out = new StringBuilder();
        append(value, 0, out);
        return out.toString();
    }

    private void append(Object value, int level, StringBuilder out) {
        if (level > DEEPEST) {
            throw new TemplateException("a value is nested too deeply for JSON");
        }
        switch (Markup.plain(value)) {
            case null -> out.append("null");
            case Boolean is -> out.append(is);
            case Double number ->
                out.append(
                        switch (Values.floatText(number)) {
                            case "nan" -> "NaN";
                            case "inf" -> "Infinity";
                            case "-inf" -> "-Infinity";
                            case String finite -> finite;
                        });
            case Number number -> out.append(number);
            case String text -> quote(text, out);
            case List<?> list -> {
                String separator = "";
                out.append('[');
                for (Object element : list) {
                    out.append(separator);
                    newLine(level + 1, out);
                    append(element, level + 1, out);
                    separator = itemSeparator;
                }
                end(list.isEmpty(), level, out);
                out.append(']');
            }
            case Map<?, ?> map -> {
                String separator = "";
                out.append('{');
                for (Map.Entry<?, ?> entry : entries(map)) {
                    out.append(separator);
                    newLine(level + 1, out);
                    quote(key(entry.getKey()), out);
                    out.append(keySeparator);
                    append(entry.getValue(), level + 1, out);
                    separator = itemSeparator;
                }
                end(map.isEmpty(), level, out);
                out.append('}');
            }
            default -> throw new TemplateException(Values.typeName(value) + " cannot be written as JSON");
        }
    }

    private Iterable<? extends Map.Entry<?, ?>> entries(Map<?, ?> map) {
        if (!sorted) {
            return map.entrySet();
        }
        Map<Object, Object> ordered = new TreeMap<>(Values::compare);
        ordered.putAll(map);
        return ordered.entrySet();
    }

    private static String key(Object key) {
        return switch (key) {
            case String text -> text;
            case null -> "null";
            case Number _ -> Values.text(key);
            default -> throw new TemplateException(Values.typeName(key) + " cannot be a key in JSON");
        };
    }

    private void newLine(int level, StringBuilder out) {
        if (indent != null) {
            out.append('\n').append(indent.repeat(level));
        }
    }

    private void end(boolean empty, int level, StringBuilder out) {
        if (!empty) {
            newLine(level, out);
        }
    }

    private void quote(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\f' -> out.append("\\f");
                case '\b' -> out.append("\\b");
                default -> {
                    if (c < ' ' || (ascii && c > '~')) {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
