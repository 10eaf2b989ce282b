package io.github.tornadotransformers.models.jinja;

import io.github.tornadotransformers.models.jinja.Expression.CallArguments;
import io.github.tornadotransformers.models.jinja.Expression.Operand;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Computes expressions. */
final class Evaluator {
    private final Budget budget;
    private final Members members;
    private final Filters filters;

    Evaluator(Budget budget) {
        this.budget = budget;
        members = new Members(budget);
        filters = new Filters(members, budget);
    }

    Object value(Expression expression, Scope scope) {
        budget.step();
        return switch (expression) {
            case Expression.Constant constant -> constant.value();
            case Expression.Name name -> scope.get(name.name());
            case Expression.ListOf list -> values(list.elements(), scope);
            case Expression.TupleOf tuple -> new Tuple(values(tuple.elements(), scope));
            case Expression.DictOf dict -> dict(dict, scope);
            case Expression.Attribute attribute ->
                members.attribute(value(attribute.object(), scope), attribute.name());
            case Expression.Item item -> members.item(value(item.object(), scope), value(item.key(), scope));
            case Expression.Slice slice ->
                members.slice(
                        value(slice.object(), scope),
                        optional(slice.from(), scope),
                        optional(slice.to(), scope),
                        optional(slice.step(), scope));
            case Expression.Call call -> located(call.line(), () -> call(call, scope, Map.of()));
            case Expression.Filter filter ->
                located(
                        filter.line(),
                        () -> filters.apply(
                                filter.name(), value(filter.value(), scope), arguments(filter.arguments(), scope)));
            case Expression.Test test ->
                located(
                        test.line(),
                        () -> Tests.holds(test.name(), value(test.value(), scope), arguments(test.arguments(), scope)));
            case Expression.Not not -> !truth(not.value(), scope);
            case Expression.And and -> {
                Object left = value(and.left(), scope);
                yield Values.truth(left) ? value(and.right(), scope) : left;
            }
            case Expression.Or or -> {
                Object left = value(or.left(), scope);
                yield Values.truth(left) ? left : value(or.right(), scope);
            }
            case Expression.Negative negative -> negative(value(negative.value(), scope));
            case Expression.Positive positive -> signed(value(positive.value(), scope));
            case Expression.Arithmetic arithmetic ->
                located(
                        arithmetic.line(),
                        () -> Arithmetic.apply(
                                arithmetic.operator(),
                                value(arithmetic.left(), scope),
                                value(arithmetic.right(), scope),
                                budget));
            case Expression.Concatenation concatenation -> concatenated(concatenation, scope);
            case Expression.Comparison comparison -> located(comparison.line(), () -> compared(comparison, scope));
            case Expression.Conditional conditional -> {
                if (truth(conditional.condition(), scope)) {
                    yield value(conditional.then(), scope);
                }
                yield conditional.otherwise().isPresent()
                        ? value(conditional.otherwise().get(), scope)
                        : new Undefined("an 'if' without an 'else' has no value");
            }
        };
    }

    boolean truth(Expression expression, Scope scope) {
        return Values.truth(value(expression, scope));
    }

    /** @param more named arguments beside those of the call */
    Object call(Expression.Call call, Scope scope, Map<String, Object> more) {
        Object function = value(call.function(), scope);
        Values.requireDefined(function);
        if (!(function instanceof Function callable)) {
            throw new TemplateException(Values.typeName(function) + " cannot be called");
        }
        Arguments arguments = arguments(call.arguments(), scope);
        arguments.named().putAll(more);
        budget.enterCall();
        Object value = callable.call(arguments);
        budget.leaveCall();
        return value;
    }

    private static Object located(int line, Supplier<Object> computed) {
        try {
            return computed.get();
        } catch (TemplateException e) {
            throw e.inLine(line);
        }
    }

    private Arguments arguments(CallArguments given, Scope scope) {
        List<Object> positional = values(given.positional(), scope);
        Map<String, Object> named = new LinkedHashMap<>();
        given.named().forEach((name, value) -> named.put(name, value(value, scope)));
        given.spread().ifPresent(list -> positional.addAll(Values.elements(value(list, scope))));
        given.spreadNamed().ifPresent(dict -> {
            if (!(value(dict, scope) instanceof Map<?, ?> map)) {
                throw new TemplateException("** is for a dict");
            }
            map.forEach((name, value) -> named.put(Values.string(name), value));
        });
        return new Arguments(positional, named);
    }

    private Object optional(Optional<Expression> expression, Scope scope) {
        return expression.isPresent() ? value(expression.get(), scope) : null;
    }

    private List<Object> values(List<Expression> expressions, Scope scope) {
        List<Object> values = new ArrayList<>(expressions.size());
        for (Expression expression : expressions) {
            values.add(value(expression, scope));
        }
        return values;
    }

    private Object dict(Expression.DictOf dict, Scope scope) {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (Map.Entry<Expression, Expression> entry : dict.entries()) {
            map.put(Values.key(value(entry.getKey(), scope)), value(entry.getValue(), scope));
        }
        return map;
    }

    private static Object signed(Object value) {
        return value instanceof Double ? value : (Object) Values.integer(value);
    }

    private static Object negative(Object value) {
        return value instanceof Double number ? (Object) (-number) : (Object) Math.negateExact(Values.integer(value));
    }

    private Object concatenated(Expression.Concatenation concatenation, Scope scope) {
        StringBuilder text = new StringBuilder();
        for (Expression part : concatenation.parts()) {
            text.append(Values.text(value(part, scope)));
        }
        budget.make(text.length());
        return text.toString();
    }

    private Object compared(Expression.Comparison comparison, Scope scope) {
        Object left = value(comparison.first(), scope);
        for (Operand operand : comparison.operands()) {
            Object right = value(operand.value(), scope);
            boolean holds = switch (operand.operator()) {
                case "==" -> Values.equal(left, right);
                case "!=" -> !Values.equal(left, right);
                case "<" -> Values.compare(left, right) < 0;
                case "<=" -> Values.compare(left, right) <= 0;
                case ">" -> Values.compare(left, right) > 0;
                case ">=" -> Values.compare(left, right) >= 0;
                case "in" -> Values.contains(right, left);
                default -> !Values.contains(right, left);
            };
            if (!holds) {
                return false;
            }
            left = right;
        }
        return true;
    }
}
