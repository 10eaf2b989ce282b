package io.github.tornadotransformers.models.jinja;

/**
 * A text that {@code safe} or {@code escape} says is HTML: what is added to it is escaped, which templates for chats seldom mean, but get from
 * Jinja2.
 */
record Markup(String text) {
    static Markup escaped(Object value) {
        return value instanceof Markup markup
                ? markup
                : new Markup(Values.text(value)
                        .replace("&", "&amp;")
                        .replace(">", "&gt;")
                        .replace("<", "&lt;")
                        .replace("'", "&#39;")
                        .replace("\"", "&#34;"));
    }

    /** What it is wherever else a text is wanted. */
    static Object plain(Object value) {
        return value instanceof Markup markup ? markup.text() : value;
    }
}
