package io.github.tornadotransformers.models.jinja;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code "%s" % value} and {@code "{}".format(value)}, as far as width, alignment and precision go. */
final class Formats {
    private static final Pattern PERCENT =
            Pattern.compile("%(?:\\((\\w+)\\))?([-+ 0#]*)(\\d*)(?:\\.(\\d+))?([sdirfFgxXo%])?");
    private static final Pattern BRACES = Pattern.compile("\\{\\{|\\}\\}|\\{(\\w*)(?:!([rs]))?(?::([^{}]*))?\\}|[{}]");
    private static final Pattern SPEC =
            Pattern.compile("(?:(.)?([<>^]))?([+ ]?)(0?)(\\d*)(,?)(?:\\.(\\d+))?([sdfFxX%]?)");
    private static final int WIDEST = 10_000;

    private Formats() {}

    /** @param value a tuple has the values of several places, a dict those of names */
    static String percent(String format, Object value) {
        List<Object> values = value instanceof Tuple tuple ? tuple : Collections.singletonList(value);
        Matcher place = PERCENT.matcher(format);
        StringBuilder out = new StringBuilder();
        int from = 0;
        int next = 0;
        while (place.find()) {
            out.append(format, from, place.start());
            from = place.end();
            if (place.group(5) == null) {
                throw new TemplateException("the format " + Values.repr(format) + " is not understood");
            }
            if (place.group(5).equals("%")) {
                out.append('%');
                continue;
            }
            Object one;
            if (place.group(1) != null) {
                one = value instanceof Map<?, ?> map ? map.get(place.group(1)) : null;
            } else if (next < values.size()) {
                one = values.get(next++);
            } else {
                throw new TemplateException("the format " + Values.repr(format) + " has more places than values");
            }
            out.append(percent(place, one));
        }
        if (next < values.size() && !(value instanceof Map)) {
            throw new TemplateException("the format " + Values.repr(format) + " has fewer places than values");
        }
        return out.append(format.substring(from)).toString();
    }

    private static String percent(Matcher place, Object value) {
        String flags = place.group(2);
        int width = width(place.group(3));
        String precision = place.group(4);
        String text = switch (place.group(5)) {
            case "s" -> cut(Values.text(value), precision);
            case "r" -> cut(Values.repr(value), precision);
            case "d", "i" -> Long.toString(value instanceof Double number ? number.longValue() : Values.integer(value));
            case "x" -> Long.toHexString(Values.integer(value));
            case "X" -> Long.toHexString(Values.integer(value)).toUpperCase(Locale.ROOT);
            case "o" -> Long.toOctalString(Values.integer(value));
            case "g" -> Values.floatText(Values.number(value));
            default -> fixed(Values.number(value), precision == null ? 6 : width(precision));
        };
        boolean number = !place.group(5).equals("s") && !place.group(5).equals("r");
        if (number && flags.contains("+") && !text.startsWith("-")) {
            text = "+" + text;
        }
        if (flags.contains("-")) {
            return pad(text, width, '<', ' ');
        }
        return number && flags.contains("0") ? zeros(text, width) : pad(text, width, '>', ' ');
    }

    static String braces(String format, Arguments arguments) {
        Matcher place = BRACES.matcher(format);
        StringBuilder out = new StringBuilder();
        int from = 0;
        int next = 0;
        while (place.find()) {
            out.append(format, from, place.start());
            from = place.end();
            String found = place.group();
            if (found.equals("{{") || found.equals("}}")) {
                out.append(found.charAt(0));
                continue;
            }
            if (found.length() == 1) {
                throw new TemplateException("the format " + Values.repr(format) + " is not understood");
            }
            String name = place.group(1);
            Object value;
            if (name.isEmpty() || name.chars().allMatch(Character::isDigit)) {
                int index = name.isEmpty() ? next++ : width(name);
                value = arguments.require(index, name.isEmpty() ? "format" : name);
            } else {
                value = arguments.require(Integer.MAX_VALUE, name);
            }
            value = "r".equals(place.group(2)) ? Values.repr(value) : value;
            out.append(formatted(value, place.group(3) == null ? "" : place.group(3)));
        }
        return out.append(format.substring(from)).toString();
    }

    private static String formatted(Object value, String spec) {
        Matcher parts = SPEC.matcher(spec);
        if (!parts.matches()) {
            throw new TemplateException("the format " + Values.repr(spec) + " is not understood");
        }
        boolean number = value instanceof Number;
        String type = parts.group(8);
        String text;
        if (number && (type.toLowerCase(Locale.ROOT).equals("f") || type.equals("%") || parts.group(7) != null)) {
            double scaled = type.equals("%") ? Values.number(value) * 100 : Values.number(value);
            text = fixed(scaled, parts.group(7) == null ? 6 : width(parts.group(7))) + (type.equals("%") ? "%" : "");
        } else if (type.equals("x") || type.equals("X")) {
            text = Long.toHexString(Values.integer(value));
            text = type.equals("X") ? text.toUpperCase(Locale.ROOT) : text;
        } else {
            text = cut(Values.text(value), number ? null : parts.group(7));
        }
        if (parts.group(6).equals(",") && number) {
            text = grouped(text);
        }
        if (parts.group(3).equals("+") && number && !text.startsWith("-")) {
            text = "+" + text;
        }
        int width = width(parts.group(5));
        if (number && parts.group(4).equals("0")) {
            return zeros(text, width);
        }
        char align =
                parts.group(2) == null ? (number ? '>' : '<') : parts.group(2).charAt(0);
        return pad(
                text,
                width,
                align,
                parts.group(1) == null ? ' ' : parts.group(1).charAt(0));
    }

    private static String grouped(String number) {
        int end = number.indexOf('.') < 0 ? number.length() : number.indexOf('.');
        StringBuilder out = new StringBuilder(number);
        for (int i = end - 3; i > (number.startsWith("-") ? 1 : 0); i -= 3) {
            out.insert(i, ',');
        }
        return out.toString();
    }

    static String fixed(double number, int digits) {
        return Double.isFinite(number)
                ? (number < 0 || 1 / number < 0 ? "-" : "")
                        + new BigDecimal(Math.abs(number))
                                .setScale(digits, RoundingMode.HALF_EVEN)
                                .toPlainString()
                : Values.floatText(number);
    }

    private static String cut(String text, String precision) {
        return precision == null || Strings.length(text) <= width(precision)
                ? text
                : text.substring(0, text.offsetByCodePoints(0, width(precision)));
    }

    private static int width(String digits) {
        if (digits.isEmpty()) {
            return 0;
        }
        int width = digits.length() > 6 ? Integer.MAX_VALUE : Integer.parseInt(digits);
        if (width > WIDEST) {
            throw new TemplateException("a width of " + digits + " is too large");
        }
        return width;
    }

    private static String zeros(String text, int width) {
        int sign = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
        return text.substring(0, sign) + "0".repeat(Math.max(0, width - text.length())) + text.substring(sign);
    }

    /** In the middle as {@code str.center} has it: an odd space is on the left where the width is odd too. */
    static String center(String text, int width, char fill) {
        int space = Math.max(0, width - Strings.length(text));
        String right = pad(text, Strings.length(text) + space / 2 + (space & 1 & ~width), '<', fill);
        return pad(right, width, '>', fill);
    }

    /** @param align {@code <}, {@code >}, or {@code ^} in the middle, where an odd space is on the right */
    static String pad(String text, int width, char align, char fill) {
        if (width > WIDEST) {
            throw new TemplateException("a width of " + width + " is too large");
        }
        int space = Math.max(0, width - Strings.length(text));
        int left = switch (align) {
            case '<' -> 0;
            case '^' -> space / 2;
            default -> space;
        };
        String one = Character.toString(fill);
        return one.repeat(left) + text + one.repeat(space - left);
    }
}
