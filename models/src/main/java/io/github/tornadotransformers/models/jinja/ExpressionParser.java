package io.github.tornadotransformers.models.jinja;

import io.github.tornadotransformers.models.jinja.Expression.CallArguments;
import io.github.tornadotransformers.models.jinja.Expression.Operand;
import io.github.tornadotransformers.models.jinja.Token.Kind;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Reads expressions. From the loosest binding to the tightest: if, or, and, not, comparison, + and -, ~, * and /, **, sign, filters. */
final class ExpressionParser {
    private static final int DEEPEST = 100;
    private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
    private static final Set<String> PRODUCTS = Set.of("*", "/", "//", "%");
    private static final Set<Kind> BEGIN_ARGUMENT = Set.of(Kind.NAME, Kind.STRING, Kind.INTEGER, Kind.FLOAT);

    private final TokenStream tokens;
    private int depth;

    ExpressionParser(TokenStream tokens) {
        this.tokens = tokens;
    }

    /** One expression. */
    Expression expression() {
        if (++depth > DEEPEST) {
            throw TemplateException.atLine(tokens.current().line(), "an expression is nested too deeply");
        }
        Expression value = or();
        while (tokens.skipName("if")) {
            Expression condition = or();
            Optional<Expression> otherwise = tokens.skipName("else") ? Optional.of(expression()) : Optional.empty();
            value = new Expression.Conditional(condition, value, otherwise);
        }
        depth--;
        return value;
    }

    /** Without an {@code if} of its own: that of a loop follows. */
    Expression unconditional() {
        return tupleOf(this::or);
    }

    /** One expression, or several with commas between, which are a tuple. */
    Expression expressions() {
        return tupleOf(this::expression);
    }

    private Expression tupleOf(Supplier<Expression> one) {
        Expression first = one.get();
        if (!tokens.isOperator(",")) {
            return first;
        }
        List<Expression> elements = new ArrayList<>(List.of(first));
        while (tokens.skipOperator(",")) {
            Token token = tokens.current();
            if (token.kind() == Kind.VARIABLE_END || token.kind() == Kind.BLOCK_END || token.isOperator(")")) {
                break;
            }
            elements.add(one.get());
        }
        return new Expression.TupleOf(elements);
    }

    private Expression or() {
        Expression left = and();
        while (tokens.skipName("or")) {
            left = new Expression.Or(left, and());
        }
        return left;
    }

    private Expression and() {
        Expression left = not();
        while (tokens.skipName("and")) {
            left = new Expression.And(left, not());
        }
        return left;
    }

    private Expression not() {
        int negations = 0;
        while (tokens.skipName("not")) {
            negations++;
        }
        Expression value = comparison();
        for (int i = 0; i < negations; i++) {
            value = new Expression.Not(value);
        }
        return value;
    }

    private Expression comparison() {
        int line = tokens.current().line();
        Expression first = sum();
        List<Operand> operands = new ArrayList<>();
        while (true) {
            Token token = tokens.current();
            if (token.kind() == Kind.OPERATOR && COMPARISONS.contains(token.text())) {
                tokens.next();
                operands.add(new Operand(token.text(), sum()));
            } else if (tokens.skipName("in")) {
                operands.add(new Operand("in", sum()));
            } else if (token.isName("not") && tokens.following().isName("in")) {
                tokens.next();
                tokens.next();
                operands.add(new Operand("not in", sum()));
            } else {
                return operands.isEmpty() ? first : new Expression.Comparison(first, operands, line);
            }
        }
    }

    private Expression sum() {
        Expression left = concatenation();
        while (tokens.isOperator("+") || tokens.isOperator("-")) {
            Token operator = tokens.next();
            left = new Expression.Arithmetic(operator.text(), left, concatenation(), operator.line());
        }
        return left;
    }

    private Expression concatenation() {
        List<Expression> parts = new ArrayList<>(List.of(product()));
        while (tokens.skipOperator("~")) {
            parts.add(product());
        }
        return parts.size() == 1 ? parts.getFirst() : new Expression.Concatenation(parts);
    }

    private Expression product() {
        Expression left = power();
        while (tokens.current().kind() == Kind.OPERATOR
                && PRODUCTS.contains(tokens.current().text())) {
            Token operator = tokens.next();
            left = new Expression.Arithmetic(operator.text(), left, power(), operator.line());
        }
        return left;
    }

    private Expression power() {
        Expression left = signed(true);
        while (tokens.isOperator("**")) {
            Token operator = tokens.next();
            left = new Expression.Arithmetic(operator.text(), left, signed(true), operator.line());
        }
        return left;
    }

    private Expression signed(boolean withFilters) {
        Expression value;
        if (tokens.isOperator("-") || tokens.isOperator("+")) {
            if (++depth > DEEPEST) {
                throw tokens.unexpected("fewer signs");
            }
            boolean negative = tokens.next().isOperator("-");
            Expression operand = signed(false);
            value = negative ? new Expression.Negative(operand) : new Expression.Positive(operand);
            depth--;
        } else {
            value = primary();
        }
        value = members(value);
        return withFilters ? filters(value) : value;
    }

    private Expression primary() {
        return switch (tokens.current().kind()) {
            case NAME -> name(tokens.next().text());
            case STRING -> {
                StringBuilder text = new StringBuilder();
                while (tokens.current().kind() == Kind.STRING) {
                    text.append(tokens.next().text());
                }
                yield new Expression.Constant(text.toString());
            }
            case INTEGER -> new Expression.Constant(integer(tokens.next()));
            case FLOAT ->
                new Expression.Constant(Double.valueOf(tokens.next().text().replace("_", "")));
            default -> bracketed();
        };
    }

    private static Expression name(String name) {
        return switch (name) {
            case "true", "True" -> new Expression.Constant(true);
            case "false", "False" -> new Expression.Constant(false);
            case "none", "None" -> new Expression.Constant(null);
            default -> new Expression.Name(name);
        };
    }

    private static Object integer(Token token) {
        String text = token.text().replace("_", "");
        int radix = text.length() < 2
                ? 10
                : switch (Character.toLowerCase(text.charAt(1))) {
                    case 'x' -> 16;
                    case 'o' -> 8;
                    case 'b' -> 2;
                    default -> 10;
                };
        BigInteger value = new BigInteger(radix == 10 ? text : text.substring(2), radix);
        if (value.bitLength() > 63) {
            throw TemplateException.atLine(token.line(), "the number " + text + " is too large");
        }
        return value.longValue();
    }

    private Expression bracketed() {
        if (tokens.skipOperator("(")) {
            if (tokens.skipOperator(")")) {
                return new Expression.TupleOf(List.of());
            }
            Expression inside = expressions();
            tokens.expectOperator(")");
            return inside;
        }
        if (tokens.skipOperator("[")) {
            List<Expression> elements = new ArrayList<>();
            while (!tokens.skipOperator("]")) {
                separate(elements.isEmpty());
                if (!tokens.isOperator("]")) {
                    elements.add(expression());
                }
            }
            return new Expression.ListOf(elements);
        }
        if (tokens.skipOperator("{")) {
            List<Map.Entry<Expression, Expression>> entries = new ArrayList<>();
            while (!tokens.skipOperator("}")) {
                separate(entries.isEmpty());
                if (!tokens.isOperator("}")) {
                    Expression key = expression();
                    tokens.expectOperator(":");
                    entries.add(Map.entry(key, expression()));
                }
            }
            return new Expression.DictOf(entries);
        }
        throw tokens.unexpected("an expression");
    }

    private void separate(boolean first) {
        if (!first) {
            tokens.expectOperator(",");
        }
    }

    /** Attributes, items and calls behind a value. */
    private Expression members(Expression value) {
        Expression object = value;
        while (true) {
            if (tokens.skipOperator(".")) {
                object = attribute(object);
            } else if (tokens.skipOperator("[")) {
                object = item(object);
                tokens.expectOperator("]");
            } else if (tokens.isOperator("(")) {
                int line = tokens.current().line();
                object = new Expression.Call(object, arguments(), line);
            } else {
                return object;
            }
        }
    }

    private Expression attribute(Expression object) {
        Token token = tokens.next();
        return switch (token.kind()) {
            case NAME -> new Expression.Attribute(object, token.text());
            case INTEGER -> new Expression.Item(object, new Expression.Constant(integer(token)));
            default ->
                throw TemplateException.atLine(
                        token.line(), "found " + token.described() + " after '.', expected a name or a number");
        };
    }

    private Expression item(Expression object) {
        Optional<Expression> from = tokens.isOperator(":") ? Optional.empty() : Optional.of(expression());
        if (from.isPresent() && !tokens.isOperator(":")) {
            return new Expression.Item(object, from.get());
        }
        tokens.expectOperator(":");
        Optional<Expression> to = sliceEnd();
        Optional<Expression> step = tokens.skipOperator(":") ? sliceEnd() : Optional.empty();
        return new Expression.Slice(object, from, to, step);
    }

    private Optional<Expression> sliceEnd() {
        return tokens.isOperator(":") || tokens.isOperator("]") ? Optional.empty() : Optional.of(expression());
    }

    private Expression filters(Expression value) {
        Expression filtered = value;
        while (true) {
            if (tokens.isOperator("|")) {
                filtered = filter(filtered);
            } else if (tokens.current().isName("is")) {
                filtered = test(filtered);
            } else if (tokens.isOperator("(")) {
                int line = tokens.current().line();
                filtered = new Expression.Call(filtered, arguments(), line);
            } else {
                return filtered;
            }
        }
    }

    /** All the filters that follow, each with its {@code |}. */
    Expression filter(Expression value) {
        Expression filtered = value;
        while (tokens.skipOperator("|")) {
            filtered = firstFilter(filtered);
        }
        return filtered;
    }

    /** A filter without a {@code |}, as {@code {% filter %}} has it, and those that follow. */
    Expression filterOf(Expression value) {
        return filter(firstFilter(value));
    }

    private Expression firstFilter(Expression value) {
        int line = tokens.current().line();
        String name = tokens.expectName();
        CallArguments arguments = tokens.isOperator("(") ? arguments() : CallArguments.NONE;
        return new Expression.Filter(value, Filters.known(name, line), arguments, line);
    }

    private Expression test(Expression value) {
        int line = tokens.next().line();
        boolean negated = tokens.skipName("not");
        String name = Tests.known(tokens.expectName(), line);
        CallArguments arguments = CallArguments.NONE;
        Token token = tokens.current();
        if (token.isOperator("(")) {
            arguments = arguments();
        } else if ((BEGIN_ARGUMENT.contains(token.kind()) || token.isOperator("[") || token.isOperator("{"))
                && !token.isName("else")
                && !token.isName("or")
                && !token.isName("and")) {
            if (token.isName("is")) {
                throw tokens.unexpected("one 'is' at most");
            }
            if (!token.isName("if") && !token.isName("in") && !token.isName("not")) {
                arguments =
                        new CallArguments(List.of(members(primary())), Map.of(), Optional.empty(), Optional.empty());
            }
        }
        Expression test = new Expression.Test(value, name, arguments, line);
        return negated ? new Expression.Not(test) : test;
    }

    CallArguments arguments() {
        tokens.expectOperator("(");
        List<Expression> positional = new ArrayList<>();
        Map<String, Expression> named = new LinkedHashMap<>();
        Optional<Expression> spread = Optional.empty();
        Optional<Expression> spreadNamed = Optional.empty();
        boolean first = true;
        while (!tokens.skipOperator(")")) {
            separate(first);
            first = false;
            if (tokens.isOperator(")")) {
                continue;
            }
            if (tokens.skipOperator("*")) {
                spread = Optional.of(expression());
            } else if (tokens.skipOperator("**")) {
                spreadNamed = Optional.of(expression());
            } else if (tokens.current().kind() == Kind.NAME
                    && tokens.following().isOperator("=")) {
                String name = tokens.next().text();
                tokens.next();
                named.put(name, expression());
            } else if (named.isEmpty() && spread.isEmpty() && spreadNamed.isEmpty()) {
                positional.add(expression());
            } else {
                throw tokens.unexpected("a named argument, as one is before it");
            }
        }
        return new CallArguments(positional, named, spread, spreadNamed);
    }
}
