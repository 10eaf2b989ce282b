package io.github.tornadotransformers.models.jinja;

import io.github.tornadotransformers.models.jinja.Token.Kind;
import java.util.List;

/** Tokens, one after the other. The last one, the end, stays. */
final class TokenStream {
    private final List<Token> tokens;
    private int at;

    TokenStream(List<Token> tokens) {
        this.tokens = tokens;
    }

    Token current() {
        return tokens.get(at);
    }

    Token following() {
        return tokens.get(Math.min(at + 1, tokens.size() - 1));
    }

    Token next() {
        Token token = current();
        at = Math.min(at + 1, tokens.size() - 1);
        return token;
    }

    boolean skipName(String name) {
        return skipIf(current().isName(name));
    }

    boolean skipOperator(String operator) {
        return skipIf(current().isOperator(operator));
    }

    boolean isOperator(String operator) {
        return current().isOperator(operator);
    }

    private boolean skipIf(boolean matches) {
        if (matches) {
            next();
        }
        return matches;
    }

    Token expect(Kind kind, String described) {
        if (current().kind() != kind) {
            throw unexpected(described);
        }
        return next();
    }

    String expectName() {
        return expect(Kind.NAME, "a name").text();
    }

    void expectOperator(String operator) {
        if (!skipOperator(operator)) {
            throw unexpected("'" + operator + "'");
        }
    }

    TemplateException unexpected(String expected) {
        return TemplateException.atLine(current().line(), "found " + current().described() + ", expected " + expected);
    }
}
