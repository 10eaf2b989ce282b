package io.github.tornadotransformers.models.jinja;

import io.github.tornadotransformers.models.jinja.Statement.Assignment;
import io.github.tornadotransformers.models.jinja.Statement.Branch;
import io.github.tornadotransformers.models.jinja.Statement.Parameter;
import io.github.tornadotransformers.models.jinja.Statement.Target;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One run of a template. */
final class Rendering {
    /** How a body was left. */
    private enum Left {
        AT_ITS_END,
        BREAK,
        CONTINUE
    }

    private final Budget budget;
    private final Evaluator evaluator;
    private final Scope globals;

    Rendering(Budget budget, Scope globals) {
        this.budget = budget;
        this.globals = globals;
        evaluator = new Evaluator(budget);
    }

    String run(List<Statement> statements) {
        StringBuilder out = new StringBuilder();
        run(statements, new Scope(globals), out);
        return out.toString();
    }

    private Left run(List<Statement> statements, Scope scope, StringBuilder out) {
        for (Statement statement : statements) {
            budget.step();
            Left left = run(statement, scope, out);
            if (left != Left.AT_ITS_END) {
                return left;
            }
        }
        return Left.AT_ITS_END;
    }

    private Left run(Statement statement, Scope scope, StringBuilder out) {
        switch (statement) {
            case Statement.Text text -> write(text.text(), out);
            case Statement.Output output -> write(Values.text(value(output.value(), scope, output.line())), out);
            case Statement.If conditional -> {
                return conditional(conditional, scope, out);
            }
            case Statement.For loop -> loop(loop, scope, out);
            case Statement.Set set -> assign(set.target(), value(set.value(), scope, set.line()), scope, set.line());
            case Statement.SetBlock set -> {
                Object text = filtered(set.text(), set.body(), scope, set.line());
                assign(set.target(), text, scope, set.line());
            }
            case Statement.FilterBlock filter ->
                write(Values.text(filtered(filter.text(), filter.body(), scope, filter.line())), out);
            case Statement.With with -> {
                Scope inside = new Scope(scope);
                for (Assignment each : with.assignments()) {
                    assign(each.target(), value(each.value(), scope, with.line()), inside, with.line());
                }
                return run(with.body(), inside, out);
            }
            case Statement.Scoped scoped -> {
                return run(scoped.body(), new Scope(scope), out);
            }
            case Statement.MacroDefinition definition ->
                scope.set(definition.macro().name(), new Macro(definition.macro(), scope, this));
            case Statement.CallBlock block -> {
                Macro caller = new Macro(block.caller(), scope, this);
                write(Values.text(evaluator.call(block.call(), scope, Map.of("caller", caller))), out);
            }
            case Statement.Break _ -> {
                return Left.BREAK;
            }
            case Statement.Continue _ -> {
                return Left.CONTINUE;
            }
        }
        return Left.AT_ITS_END;
    }

    private Object value(Expression expression, Scope scope, int line) {
        try {
            return evaluator.value(expression, scope);
        } catch (TemplateException e) {
            throw e.inLine(line);
        }
    }

    private void write(String text, StringBuilder out) {
        budget.make(text.length());
        out.append(text);
    }

    private Left conditional(Statement.If conditional, Scope scope, StringBuilder out) {
        for (Branch branch : conditional.branches()) {
            if (Values.truth(value(branch.condition(), scope, branch.line()))) {
                return run(branch.body(), scope, out);
            }
        }
        return run(conditional.otherwise(), scope, out);
    }

    private void loop(Statement.For loop, Scope scope, StringBuilder out) {
        List<Object> elements = chosen(loop, scope);
        LoopState state = new LoopState(elements);
        for (int i = 0; i < elements.size(); i++) {
            budget.step();
            Scope inside = new Scope(scope);
            inside.set("loop", state);
            state.at(i);
            assign(loop.target(), elements.get(i), inside, loop.line());
            if (run(loop.body(), inside, out) == Left.BREAK) {
                break;
            }
        }
        if (elements.isEmpty()) {
            run(loop.otherwise(), new Scope(scope), out);
        }
    }

    private List<Object> chosen(Statement.For loop, Scope scope) {
        Object value = value(loop.elements(), scope, loop.line());
        List<Object> all;
        try {
            all = Values.elements(value);
        } catch (TemplateException e) {
            throw e.inLine(loop.line());
        }
        if (loop.condition().isEmpty()) {
            return all;
        }
        List<Object> chosen = new ArrayList<>();
        for (Object element : all) {
            Scope inside = new Scope(scope);
            assign(loop.target(), element, inside, loop.line());
            if (Values.truth(value(loop.condition().get(), inside, loop.line()))) {
                chosen.add(element);
            }
        }
        return chosen;
    }

    private Object filtered(Expression text, List<Statement> body, Scope scope, int line) {
        Scope inside = new Scope(scope);
        StringBuilder out = new StringBuilder();
        run(body, inside, out);
        inside.set(Parser.BLOCK_TEXT, out.toString());
        return value(text, inside, line);
    }

    private void assign(Target target, Object value, Scope scope, int line) {
        switch (target) {
            case Statement.Variable variable -> scope.set(variable.name(), value);
            case Statement.NamespaceField field -> {
                if (!(scope.get(field.namespace()) instanceof Namespace namespace)) {
                    throw TemplateException.atLine(line, "'" + field.namespace() + "' is no namespace");
                }
                namespace.fields().put(field.field(), value);
            }
            case Statement.Several several -> {
                List<Object> values = Values.elements(value);
                if (values.size() != several.targets().size()) {
                    throw TemplateException.atLine(
                            line,
                            values.size() + " values for " + several.targets().size() + " names");
                }
                for (int i = 0; i < values.size(); i++) {
                    assign(several.targets().get(i), values.get(i), scope, line);
                }
            }
        }
    }

    /** A macro's text. */
    Object macro(Macro macro, Arguments arguments) {
        List<Parameter> parameters = macro.text().parameters();
        Scope inside = new Scope(macro.around());
        Map<Object, Object> others = new LinkedHashMap<>(arguments.named());
        for (int i = 0; i < parameters.size(); i++) {
            Parameter parameter = parameters.get(i);
            Object value;
            if (arguments.has(i, parameter.name())) {
                value = arguments.get(i, parameter.name(), null);
            } else if (parameter.byDefault().isPresent()) {
                value = evaluator.value(parameter.byDefault().get(), inside);
            } else {
                value = Undefined.name(parameter.name());
            }
            inside.set(parameter.name(), value);
            others.remove(parameter.name());
        }
        Object caller = others.remove("caller");
        inside.set("caller", caller == null ? Undefined.name("caller") : caller);
        inside.set("varargs", new Tuple(arguments.from(parameters.size()).positional()));
        inside.set("kwargs", others);
        StringBuilder out = new StringBuilder();
        run(macro.text().body(), inside, out);
        return out.toString();
    }
}
