package io.github.tornadotransformers.models.jinja;

import io.github.tornadotransformers.models.jinja.Statement.Assignment;
import io.github.tornadotransformers.models.jinja.Statement.Branch;
import io.github.tornadotransformers.models.jinja.Statement.MacroText;
import io.github.tornadotransformers.models.jinja.Statement.Parameter;
import io.github.tornadotransformers.models.jinja.Statement.Target;
import io.github.tornadotransformers.models.jinja.Token.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads a template's statements. */
final class Parser {
    /** The text of a block that is given to filters. */
    static final String BLOCK_TEXT = "the block's text";

    private static final int DEEPEST = 100;

    private final TokenStream tokens;
    private final ExpressionParser expressions;
    private int depth;
    private int loops;

    private Parser(String template) {
        tokens = new TokenStream(Lexer.tokens(template));
        expressions = new ExpressionParser(tokens);
    }

    static List<Statement> parse(String template) {
        Parser parser = new Parser(template);
        List<Statement> statements = parser.until();
        if (parser.tokens.current().kind() != Kind.END) {
            throw parser.tokens.unexpected("no such tag here");
        }
        return statements;
    }

    /** Statements up to a block's tag of one of these names, of which the name is current then; or to the end. */
    private List<Statement> until(String... ends) {
        if (++depth > DEEPEST) {
            throw TemplateException.atLine(tokens.current().line(), "blocks are nested too deeply");
        }
        List<Statement> body = new ArrayList<>();
        while (tokens.current().kind() != Kind.END) {
            Token token = tokens.next();
            switch (token.kind()) {
                case TEXT -> body.add(new Statement.Text(token.text()));
                case VARIABLE_BEGIN -> {
                    body.add(new Statement.Output(expressions.expressions(), token.line()));
                    tokens.expect(Kind.VARIABLE_END, "}}");
                }
                default -> {
                    if (List.of(ends).contains(tokens.current().text())) {
                        depth--;
                        return body;
                    }
                    body.add(statement());
                    endTag();
                }
            }
        }
        if (ends.length > 0) {
            throw tokens.unexpected("{% " + ends[ends.length - 1] + " %}");
        }
        depth--;
        return body;
    }

    private void endTag() {
        tokens.expect(Kind.BLOCK_END, "%}");
    }

    /** The body of a block, whose first tag's end is next, with its last tag's name. */
    private List<Statement> body(String end) {
        endTag();
        List<Statement> body = until(end);
        tokens.next();
        return body;
    }

    private Statement statement() {
        Token token = tokens.current();
        int line = token.line();
        String name = tokens.expectName();
        return switch (name) {
            case "if" -> conditional(line);
            case "for" -> loop(line);
            case "set" -> set(line);
            case "macro" -> new Statement.MacroDefinition(macro(tokens.expectName(), "endmacro"));
            case "call" -> call(line);
            case "filter" ->
                new Statement.FilterBlock(
                        expressions.filterOf(new Expression.Name(BLOCK_TEXT)), body("endfilter"), line);
            case "with" -> with(line);
            case "generation" -> new Statement.Scoped(body("endgeneration"));
            case "break", "continue" -> {
                if (loops == 0) {
                    throw TemplateException.atLine(line, name + " is outside of a loop");
                }
                yield name.equals("break") ? new Statement.Break() : new Statement.Continue();
            }
            default -> throw TemplateException.atLine(line, "{% " + name + " %} is not known");
        };
    }

    private Statement conditional(int firstLine) {
        List<Branch> branches = new ArrayList<>();
        List<Statement> otherwise = List.of();
        int line = firstLine;
        String tag = "if";
        while (!tag.equals("endif")) {
            if (tag.equals("else")) {
                otherwise = body("endif");
                break;
            }
            Expression condition = expressions.expressions();
            endTag();
            branches.add(new Branch(condition, until("elif", "else", "endif"), line));
            line = tokens.current().line();
            tag = tokens.next().text();
        }
        return new Statement.If(branches, otherwise);
    }

    private Statement loop(int line) {
        Target target = targets();
        if (!tokens.skipName("in")) {
            throw tokens.unexpected("'in'");
        }
        Expression elements = expressions.unconditional();
        Optional<Expression> condition =
                tokens.skipName("if") ? Optional.of(expressions.expression()) : Optional.empty();
        if (tokens.current().isName("recursive")) {
            throw TemplateException.atLine(line, "a recursive loop is not implemented");
        }
        endTag();
        loops++;
        List<Statement> body = until("else", "endfor");
        loops--;
        List<Statement> otherwise = tokens.next().isName("else") ? body("endfor") : List.of();
        return new Statement.For(target, elements, condition, body, otherwise, line);
    }

    private Statement set(int line) {
        Target target = targets();
        if (tokens.skipOperator("=")) {
            return new Statement.Set(target, expressions.expressions(), line);
        }
        Expression text = expressions.filter(new Expression.Name(BLOCK_TEXT));
        return new Statement.SetBlock(target, text, body("endset"), line);
    }

    private Statement with(int line) {
        List<Assignment> assignments = new ArrayList<>();
        while (tokens.current().kind() != Kind.BLOCK_END) {
            if (!assignments.isEmpty()) {
                tokens.expectOperator(",");
            }
            Target target = target();
            tokens.expectOperator("=");
            assignments.add(new Assignment(target, expressions.expression()));
        }
        return new Statement.With(assignments, body("endwith"), line);
    }

    private Statement call(int line) {
        List<Parameter> parameters = tokens.isOperator("(") ? parameters() : List.of();
        if (!(expressions.expression() instanceof Expression.Call call)) {
            throw TemplateException.atLine(line, "{% call %} needs a call");
        }
        return new Statement.CallBlock(call, new MacroText("caller", parameters, apart("endcall")), line);
    }

    private MacroText macro(String name, String end) {
        return new MacroText(name, parameters(), apart(end));
    }

    /** A body from which a loop around it cannot be left. */
    private List<Statement> apart(String end) {
        int around = loops;
        loops = 0;
        List<Statement> body = body(end);
        loops = around;
        return body;
    }

    private List<Parameter> parameters() {
        List<Parameter> parameters = new ArrayList<>();
        tokens.expectOperator("(");
        while (!tokens.skipOperator(")")) {
            if (!parameters.isEmpty()) {
                tokens.expectOperator(",");
                if (tokens.isOperator(")")) {
                    continue;
                }
            }
            String name = tokens.expectName();
            parameters.add(new Parameter(
                    name, tokens.skipOperator("=") ? Optional.of(expressions.expression()) : Optional.empty()));
        }
        return parameters;
    }

    private Target targets() {
        Target first = target();
        if (!tokens.isOperator(",")) {
            return first;
        }
        List<Target> targets = new ArrayList<>(List.of(first));
        while (tokens.skipOperator(",")) {
            if (tokens.current().kind() == Kind.NAME && !tokens.current().isName("in") || tokens.isOperator("(")) {
                targets.add(target());
            }
        }
        return new Statement.Several(targets);
    }

    private Target target() {
        if (tokens.skipOperator("(")) {
            Target inside = targets();
            tokens.expectOperator(")");
            return inside;
        }
        String name = tokens.expectName();
        return tokens.skipOperator(".")
                ? new Statement.NamespaceField(name, tokens.expectName())
                : new Statement.Variable(name);
    }
}
