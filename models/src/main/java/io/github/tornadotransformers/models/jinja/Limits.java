package io.github.tornadotransformers.models.jinja;

/**
 * What a template may use up.
 *
 * @param steps expressions and statements that it evaluates
 * @param characters of UTF-16, of all strings that it makes, its output included
 */
public record Limits(long steps, long characters) {
    /** Many times what the longest conversations need. */
    public static final Limits DEFAULT = new Limits(5_000_000, 64_000_000);
}
