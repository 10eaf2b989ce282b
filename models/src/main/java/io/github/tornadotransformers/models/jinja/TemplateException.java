package io.github.tornadotransformers.models.jinja;

/** A template that cannot be read, or fails on the values that it was given. The message is one line. */
public final class TemplateException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean raised;

    TemplateException(String message) {
        this(message, false);
    }

    private TemplateException(String message, boolean raised) {
        super(message);
        this.raised = raised;
    }

    static TemplateException atLine(int line, String message) {
        return new TemplateException("line " + line + ": " + message);
    }

    /** The template's own {@code raise_exception(message)}. */
    static TemplateException raised(String message) {
        return new TemplateException(message.replaceAll("\\s+", " ").strip(), true);
    }

    TemplateException inLine(int line) {
        return raised || getMessage().startsWith("line ") ? this : atLine(line, getMessage());
    }

    /** Whether the template itself refused the values. */
    public boolean isRaised() {
        return raised;
    }
}
