package io.github.tornadotransformers.models.jinja;

import java.util.List;
import java.util.Optional;

/** What a template does, piece by piece. */
sealed interface Statement {
    record Text(String text) implements Statement {}

    record Output(Expression value, int line) implements Statement {}

    /** The body of the first condition that holds, else the last. */
    record If(List<Branch> branches, List<Statement> otherwise) implements Statement {}

    record Branch(Expression condition, List<Statement> body, int line) {}

    record For(
            Target target,
            Expression elements,
            Optional<Expression> condition,
            List<Statement> body,
            List<Statement> otherwise,
            int line)
            implements Statement {}

    record Set(Target target, Expression value, int line) implements Statement {}

    /** {@code {% set name | filter %}text{% endset %}}: the body's text, filtered. */
    record SetBlock(Target target, Expression text, List<Statement> body, int line) implements Statement {}

    /** {@code {% filter name %}text{% endfilter %}}. */
    record FilterBlock(Expression text, List<Statement> body, int line) implements Statement {}

    record With(List<Assignment> assignments, List<Statement> body, int line) implements Statement {}

    record Assignment(Target target, Expression value) {}

    /** A body with names of its own. */
    record Scoped(List<Statement> body) implements Statement {}

    record MacroDefinition(MacroText macro) implements Statement {}

    record MacroText(String name, List<Parameter> parameters, List<Statement> body) {}

    record Parameter(String name, Optional<Expression> byDefault) {}

    /** {@code {% call(parameters) function(arguments) %}body{% endcall %}}: the function gets the body as {@code caller}. */
    record CallBlock(Expression.Call call, MacroText caller, int line) implements Statement {}

    record Break() implements Statement {}

    record Continue() implements Statement {}

    /** What a value is given to. */
    sealed interface Target {}

    record Variable(String name) implements Target {}

    record NamespaceField(String namespace, String field) implements Target {}

    record Several(List<Target> targets) implements Target {}
}
