package io.github.tornadotransformers.models.jinja;

/**
 * A piece of a template.
 *
 * @param text of {@code TEXT} what is written as it is, of a name and an operator itself, of a string and a number its value's text
 * @param line from 1
 */
record Token(Kind kind, String text, int line) {
    enum Kind {
        TEXT,
        BLOCK_BEGIN,
        BLOCK_END,
        VARIABLE_BEGIN,
        VARIABLE_END,
        NAME,
        STRING,
        INTEGER,
        FLOAT,
        OPERATOR,
        END
    }

    boolean is(Kind other, String value) {
        return kind == other && text.equals(value);
    }

    boolean isName(String name) {
        return is(Kind.NAME, name);
    }

    boolean isOperator(String operator) {
        return is(Kind.OPERATOR, operator);
    }

    /** For messages. */
    String described() {
        return switch (kind) {
            case END -> "the end of the template";
            case BLOCK_END -> "%}";
            case VARIABLE_END -> "}}";
            default -> "'" + text + "'";
        };
    }
}
