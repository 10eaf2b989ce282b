package io.github.tornadotransformers.models;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;

/** A message in which {@linkplain Term terms} stand by reference, so that its reader's names can be put there. */
public final class Wording {
    private final String format;
    private final List<Object> arguments;

    private Wording(String format, List<Object> arguments) {
        this.format = format;
        this.arguments = arguments;
    }

    /**
     * @param format as {@link String#format} takes it, with {@code %s} for a term
     * @param arguments terms, and what is said of them
     */
    public static Wording of(String format, Object... arguments) {
        return new Wording(format, List.of(arguments));
    }

    /** A text without terms, which may hold any character. */
    static Wording ofText(String text) {
        return of("%s", Objects.requireNonNullElse(text, ""));
    }

    /** This and, behind it, another. */
    public Wording and(Wording next) {
        return of("%s%s", this, next);
    }

    /** @param names how the reader calls each term */
    public String with(Function<Term, String> names) {
        Object[] named = arguments.stream()
                .<Object>map(argument -> switch (argument) {
                    case Term term -> names.apply(term);
                    case Wording part -> part.with(names);
                    default -> argument;
                })
                .toArray();
        return String.format(Locale.ROOT, format, named);
    }

    /** In the library's names. */
    @Override
    public String toString() {
        return with(Term::toString);
    }
}
