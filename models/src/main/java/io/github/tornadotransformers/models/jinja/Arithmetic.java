package io.github.tornadotransformers.models.jinja;

import java.util.ArrayList;
import java.util.List;

/** {@code + - * / // % **} on Python's values. An int that would not fit 64 bits is refused. */
final class Arithmetic {
    private Arithmetic() {}

    static Object apply(String operator, Object left, Object right, Budget budget) {
        Values.requireDefined(left);
        if (operator.equals("%") && left instanceof String format) {
            String text = Formats.percent(format, right);
            budget.make(text.length());
            return text;
        }
        Values.requireDefined(right);
        if (Values.isNumber(left) && Values.isNumber(right)) {
            return left instanceof Double || right instanceof Double || operator.equals("/")
                    ? (Object) floats(operator, Values.number(left), Values.number(right))
                    : integers(operator, Values.integer(left), Values.integer(right));
        }
        if (operator.equals("+") && (left instanceof Markup || right instanceof Markup)) {
            return markup(left, right, budget);
        }
        if (operator.equals("+")) {
            return joined(left, right, budget);
        }
        if (operator.equals("*") && Values.isInteger(right)) {
            return repeated(left, Values.integer(right), budget);
        }
        if (operator.equals("*") && Values.isInteger(left)) {
            return repeated(right, Values.integer(left), budget);
        }
        throw unsupported(operator, left, right);
    }

    private static TemplateException unsupported(String operator, Object left, Object right) {
        return new TemplateException(
                "'" + operator + "' is not for " + Values.typeName(left) + " and " + Values.typeName(right));
    }

    private static Object joined(Object left, Object right, Budget budget) {
        if (left instanceof String a && right instanceof String b) {
            budget.make((long) a.length() + b.length());
            return a + b;
        }
        if (left instanceof List<?> a && right instanceof List<?> b && (a instanceof Tuple) == (b instanceof Tuple)) {
            budget.make((long) a.size() + b.size());
            List<Object> all = new ArrayList<>(a);
            all.addAll(b);
            return a instanceof Tuple ? new Tuple(all) : all;
        }
        throw unsupported("+", left, right);
    }

    private static Markup markup(Object left, Object right, Budget budget) {
        Values.string(left);
        Values.string(right);
        String text = Markup.escaped(left).text() + Markup.escaped(right).text();
        budget.make(text.length());
        return new Markup(text);
    }

    private static Object repeated(Object given, long times, Budget budget) {
        Object value = Markup.plain(given);
        long count = Math.max(0, times);
        if (value instanceof String text) {
            budget.make(product(count, text.length()));
            return text.repeat((int) count);
        }
        if (value instanceof List<?> list) {
            budget.make(product(count, list.size()));
            List<Object> all = new ArrayList<>();
            for (long i = 0; i < count && !list.isEmpty(); i++) {
                all.addAll(list);
            }
            return value instanceof Tuple ? new Tuple(all) : all;
        }
        throw unsupported("*", value, times);
    }

    /** Of an empty value, one a time. */
    private static long product(long count, int size) {
        return Math.multiplyHigh(count, Math.max(1, size)) == 0 ? count * Math.max(1, size) : Long.MAX_VALUE;
    }

    private static double floats(String operator, double left, double right) {
        if (right == 0 && "/ // %".contains(operator)) {
            throw new TemplateException("division by zero");
        }
        return switch (operator) {
            case "+" -> left + right;
            case "-" -> left - right;
            case "*" -> left * right;
            case "/" -> left / right;
            case "//" -> Math.floor(left / right);
            case "%" -> {
                double rest = left % right;
                yield rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
            }
            default -> Math.pow(left, right);
        };
    }

    private static Object integers(String operator, long left, long right) {
        try {
            return switch (operator) {
                case "+" -> Math.addExact(left, right);
                case "-" -> Math.subtractExact(left, right);
                case "*" -> Math.multiplyExact(left, right);
                case "//" -> Math.floorDiv(left, right);
                case "%" -> Math.floorMod(left, right);
                default ->
                    right < 0
                            ? (Object) Math.pow((double) left, (double) right)
                            : (Object) Math.powExact(left, (int) Math.min(right, 99));
            };
        } catch (ArithmeticException e) {
            throw new TemplateException(
                    right == 0 && !operator.equals("**")
                            ? "division by zero"
                            : left + " " + operator + " " + right + " is too large");
        }
    }
}
