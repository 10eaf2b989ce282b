package io.github.tornadotransformers.models.jinja;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What has a value. */
sealed interface Expression {
    record Constant(Object value) implements Expression {}

    record Name(String name) implements Expression {}

    record ListOf(List<Expression> elements) implements Expression {}

    record TupleOf(List<Expression> elements) implements Expression {}

    record DictOf(List<Map.Entry<Expression, Expression>> entries) implements Expression {}

    /** {@code object.name}: an attribute, else an item. */
    record Attribute(Expression object, String name) implements Expression {}

    /** {@code object[key]}: an item, else an attribute. */
    record Item(Expression object, Expression key) implements Expression {}

    /** {@code object[from:to:step]}. */
    record Slice(Expression object, Optional<Expression> from, Optional<Expression> to, Optional<Expression> step)
            implements Expression {}

    record Call(Expression function, CallArguments arguments, int line) implements Expression {}

    record Filter(Expression value, String name, CallArguments arguments, int line) implements Expression {}

    record Test(Expression value, String name, CallArguments arguments, int line) implements Expression {}

    record Not(Expression value) implements Expression {}

    record And(Expression left, Expression right) implements Expression {}

    record Or(Expression left, Expression right) implements Expression {}

    record Negative(Expression value) implements Expression {}

    record Positive(Expression value) implements Expression {}

    record Arithmetic(String operator, Expression left, Expression right, int line) implements Expression {}

    /** {@code a ~ b}: both as text. */
    record Concatenation(List<Expression> parts) implements Expression {}

    /** {@code first op operand op operand}: each compared with its neighbour, and all must hold. */
    record Comparison(Expression first, List<Operand> operands, int line) implements Expression {}

    record Operand(String operator, Expression value) {}

    /** {@code then if condition else otherwise}. */
    record Conditional(Expression condition, Expression then, Optional<Expression> otherwise) implements Expression {}

    /**
     * What is between a call's parentheses.
     *
     * @param spread {@code *list}
     * @param spreadNamed {@code **dict}
     */
    record CallArguments(
            List<Expression> positional,
            Map<String, Expression> named,
            Optional<Expression> spread,
            Optional<Expression> spreadNamed) {
        static final CallArguments NONE = new CallArguments(List.of(), Map.of(), Optional.empty(), Optional.empty());
    }
}
