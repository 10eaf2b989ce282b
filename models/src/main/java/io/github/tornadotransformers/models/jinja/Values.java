package io.github.tornadotransformers.models.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Python's values, as Java's: None is null, bool {@code Boolean}, int {@code Long} (or {@code BigInteger}, which can only be shown), float
 * {@code Double}, str {@code String}, list {@code List}, tuple {@link Tuple}, dict {@code Map}; what they print, equal and order like.
 */
final class Values {
    private Values() {}

    static boolean truth(Object value) {
        return switch (value) {
            case null -> false;
            case Boolean is -> is;
            case Long number -> number != 0;
            case Double number -> number != 0;
            case String text -> !text.isEmpty();
            case Markup markup -> !markup.text().isEmpty();
            case List<?> list -> !list.isEmpty();
            case Map<?, ?> map -> !map.isEmpty();
            case Undefined _ -> false;
            default -> true;
        };
    }

    /** What {@code str} makes of it, and a template prints. */
    static String text(Object value) {
        return switch (value) {
            case String text -> text;
            case Markup markup -> markup.text();
            case Undefined _ -> "";
            case null, default -> repr(value);
        };
    }

    static String repr(Object value) {
        StringBuilder out = new StringBuilder();
        appendRepr(value, out);
        return out.toString();
    }

    private static void appendRepr(Object value, StringBuilder out) {
        switch (value) {
            case null -> out.append("None");
            case Boolean is -> out.append(is ? "True" : "False");
            case Double number -> out.append(floatText(number));
            case String text -> appendQuoted(text, out);
            case Markup markup -> appendQuoted(markup.text(), out);
            case Tuple tuple -> appendAll(tuple, "(", tuple.size() == 1 ? ",)" : ")", out);
            case List<?> list -> appendAll(list, "[", "]", out);
            case Map<?, ?> map -> {
                String separator = "{";
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    out.append(separator);
                    appendRepr(entry.getKey(), out);
                    out.append(": ");
                    appendRepr(entry.getValue(), out);
                    separator = ", ";
                }
                out.append(map.isEmpty() ? "{}" : "}");
            }
            case Undefined _ -> out.append("Undefined");
            case Number number -> out.append(number);
            default -> out.append('<').append(typeName(value)).append('>');
        }
    }

    private static void appendAll(List<?> list, String begin, String end, StringBuilder out) {
        out.append(begin);
        String separator = "";
        for (Object element : list) {
            out.append(separator);
            appendRepr(element, out);
            separator = ", ";
        }
        out.append(end);
    }

    private static void appendQuoted(String text, StringBuilder out) {
        char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        text.codePoints().forEach(c -> {
            switch (c) {
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c == quote) {
                        out.append('\\').append(quote);
                    } else if (Strings.isPrintable(c)) {
                        out.appendCodePoint(c);
                    } else {
                        out.append(String.format(c < 256 ? "\\x%02x" : c < 65536 ? "\\u%04x" : "\\U%08x", c));
                    }
                }
            }
        });
        out.append(quote);
    }

    /** The shortest digits that are read back as this number, with an exponent from 1e16 on and below 1e-4. */
    static String floatText(double number) {
        if (Double.isNaN(number)) {
            return "nan";
        }
        if (Double.isInfinite(number)) {
            return number > 0 ? "inf" : "-inf";
        }
        if (number == 0) {
            return 1 / number > 0 ? "0.0" : "-0.0";
        }
        BigDecimal digits = new BigDecimal(Double.toString(number)).stripTrailingZeros();
        int exponent = digits.precision() - digits.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            String plain = digits.toPlainString();
            return plain.contains(".") ? plain : plain + ".0";
        }
        String all = digits.unscaledValue().abs().toString();
        String mantissa = all.length() == 1 ? all : all.charAt(0) + "." + all.substring(1);
        return String.format(
                "%s%se%s%02d", number < 0 ? "-" : "", mantissa, exponent < 0 ? "-" : "+", Math.abs(exponent));
    }

    static String typeName(Object value) {
        return switch (value) {
            case null -> "None";
            case Boolean _ -> "a bool";
            case Long _, BigInteger _ -> "an int";
            case Double _ -> "a float";
            case String _, Markup _ -> "a str";
            case Tuple _ -> "a tuple";
            case List<?> _ -> "a list";
            case Map<?, ?> _ -> "a dict";
            case Generated _ -> "a generator";
            case Namespace _ -> "a namespace";
            case Function _ -> "a function";
            case LoopState _ -> "a loop";
            default -> "an undefined value";
        };
    }

    /** Python's {@code ==}: True is 1, 1 is 1.0, a tuple is no list. */
    static boolean equal(Object a, Object b) {
        if (isNumber(a) && isNumber(b)) {
            return compareNumbers(a, b) == 0 && !isNan(a) && !isNan(b);
        }
        if (a instanceof List<?> left && b instanceof List<?> right) {
            return (a instanceof Tuple) == (b instanceof Tuple) && equalElements(left, right);
        }
        if (a instanceof Map<?, ?> left && b instanceof Map<?, ?> right) {
            return left.size() == right.size()
                    && left.entrySet().stream()
                            .allMatch(entry -> right.containsKey(entry.getKey())
                                    && equal(entry.getValue(), right.get(entry.getKey())));
        }
        return Objects.equals(Markup.plain(a), Markup.plain(b));
    }

    private static boolean equalElements(List<?> left, List<?> right) {
        if (left.size() != right.size()) {
            return false;
        }
        Iterator<?> others = right.iterator();
        return left.stream().allMatch(each -> equal(each, others.next()));
    }

    /** @throws TemplateException if Python does not order these */
    static int compare(Object a, Object b) {
        if (isNumber(a) && isNumber(b)) {
            return compareNumbers(a, b);
        }
        if (a instanceof String left && b instanceof String right) {
            return Strings.compare(left, right);
        }
        if (a instanceof List<?> left && b instanceof List<?> right && (a instanceof Tuple) == (b instanceof Tuple)) {
            for (int i = 0; i < Math.min(left.size(), right.size()); i++) {
                if (!equal(left.get(i), right.get(i))) {
                    return compare(left.get(i), right.get(i));
                }
            }
            return Integer.compare(left.size(), right.size());
        }
        requireDefined(a);
        requireDefined(b);
        throw new TemplateException(typeName(a) + " and " + typeName(b) + " have no order");
    }

    private static int compareNumbers(Object a, Object b) {
        if (a instanceof Double || b instanceof Double) {
            double left = number(a);
            double right = number(b);
            return left == right ? 0 : Double.compare(left, right);
        }
        return exact(a).compareTo(exact(b));
    }

    private static boolean isNan(Object value) {
        return value instanceof Double number && number.isNaN();
    }

    private static BigInteger exact(Object value) {
        return value instanceof BigInteger large ? large : BigInteger.valueOf(integer(value));
    }

    static boolean isNumber(Object value) {
        return value instanceof Number || value instanceof Boolean;
    }

    static boolean isInteger(Object value) {
        return value instanceof Long || value instanceof Boolean;
    }

    static double number(Object value) {
        return value instanceof Number any ? any.doubleValue() : integer(value);
    }

    /** An int, or a bool as one. */
    static long integer(Object value) {
        return switch (value) {
            case Long number -> number;
            case Boolean is -> is ? 1 : 0;
            case null, default -> {
                requireDefined(value);
                throw new TemplateException(typeName(value) + " was given, expected an int");
            }
        };
    }

    /** An int that counts something; those beyond Java's are cut to them. */
    static int index(Object value) {
        return Math.clamp(integer(value), Integer.MIN_VALUE + 1, Integer.MAX_VALUE);
    }

    static String string(Object value) {
        if (Markup.plain(value) instanceof String text) {
            return text;
        }
        requireDefined(value);
        throw new TemplateException(typeName(value) + " was given, expected a str");
    }

    static void requireDefined(Object value) {
        if (value instanceof Undefined undefined) {
            throw undefined.failure();
        }
    }

    /** What a loop runs through: elements, a dict's keys, a text's characters. */
    static List<Object> elements(Object value) {
        return switch (value) {
            case List<?> list -> new ArrayList<>(list);
            case Map<?, ?> map -> new ArrayList<>(map.keySet());
            case String text -> Strings.characters(text);
            case Markup markup -> Strings.characters(markup.text());
            case Generated generated -> generated.elements();
            case Undefined _ -> List.of();
            case null, default -> throw new TemplateException(typeName(value) + " cannot be run through");
        };
    }

    /** {@code element in container}. */
    static boolean contains(Object container, Object element) {
        return switch (container) {
            case String text -> text.contains(string(element));
            case Markup markup -> markup.text().contains(string(element));
            case Map<?, ?> map -> map.containsKey(key(element));
            case null, default -> elements(container).stream().anyMatch(each -> equal(each, element));
        };
    }

    /** A dict's key: numbers that are equal are the same key. */
    static Object key(Object value) {
        return switch (value) {
            case Boolean is -> is ? 1L : 0L;
            case Double number when number == Math.rint(number) && Math.abs(number) < 1L << 53 -> number.longValue();
            case List<?> list when !(list instanceof Tuple) -> throw new TemplateException("a list cannot be a key");
            case Map<?, ?> _ -> throw new TemplateException("a dict cannot be a key");
            case null, default -> value;
        };
    }
}
