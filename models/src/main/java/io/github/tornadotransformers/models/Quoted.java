package io.github.tornadotransformers.models;

import java.nio.file.Path;

/** Text from a checkpoint as it may stand in a message: on one line, without control characters, not too long. */
public final class Quoted {
    private static final int MAX_CHARACTERS = 120;

    private Quoted() {}

    /** The text in quotation marks. */
    public static String text(String text) {
        return '"' + line(text) + '"';
    }

    public static String path(Path path) {
        return escape(path.toString());
    }

    /** The text, its control characters escaped and its tail cut off. */
    public static String line(String text) {
        return text.length() <= MAX_CHARACTERS ? escape(text) : escape(text.substring(0, MAX_CHARACTERS)) + "…";
    }

    private static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(codePoint -> {
            if (isPrintable(codePoint)) {
                escaped.appendCodePoint(codePoint);
            } else {
                escaped.append(String.format("\\u%04x", codePoint));
            }
        });
        return escaped.toString();
    }

    private static boolean isPrintable(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
