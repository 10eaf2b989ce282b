package io.github.tornadotransformers.models.tokenizer;

import java.util.Arrays;

/**
 * Turns ids into text as they come, without special tokens. It never hands out a part of a character, and all that it hands
 * out is together what {@link Tokenizer#decode} makes of all ids. Not safe for use by several threads.
 *
 * <p>The library decides what ids mean together, so it decodes a window of the latest ones again at every step, and what is
 * new and certain is handed out. Two things are not certain yet: a replacement character at the end, which may be the
 * beginning of a character; and a run of byte pieces ({@code <0xE2>}), which the library decodes as a whole.
 */
public final class StreamingDecoder {
    static final char REPLACEMENT = '\uFFFD';

    /** The window is cut when it is longer and its last piece can stand alone. */
    private static final int WINDOW = 16;

    private final Tokenizer tokenizer;
    private int[] window = new int[2 * WINDOW];
    private int size;
    /** How many characters of the window's text were handed out. */
    private int shown;

    /** @param before ids whose text counts as handed out, but for the beginning of a character at its end */
    StreamingDecoder(Tokenizer tokenizer, int[] before) {
        this.tokenizer = tokenizer;
        for (int id : before) {
            append(id);
        }
        String text = text();
        shown = text.length();
        boolean bytes = size > 0 && isByte(window[size - 1]);
        for (int open = 0; shown > 0 && text.charAt(shown - 1) == REPLACEMENT && (bytes || open == 0); open++) {
            shown--;
        }
    }

    /** The text that is certain now that {@code id} came; often empty. */
    public String push(int id) {
        if (!append(id) || isByte(id)) {
            return "";
        }
        String text = text();
        boolean certain = text.isEmpty() || text.charAt(text.length() - 1) != REPLACEMENT;
        String ready = handOut(text, certain ? text.length() : text.length() - 1);
        if (certain && size > WINDOW) {
            cutWindow(text);
        }
        return ready;
    }

    /**
     * The whole characters that are still held back, for one who has to know what stands before a special token. If the run of
     * bytes goes on behind it and is no text as a whole, the library would have decoded them otherwise.
     */
    public String settle() {
        String text = text();
        int end = text.length();
        while (end > 0 && text.charAt(end - 1) == REPLACEMENT) {
            end--;
        }
        return handOut(text, end);
    }

    /** The rest, certain because nothing comes after it. */
    public String finish() {
        String text = text();
        return handOut(text, text.length());
    }

    /** Whether the id has a text. */
    private boolean append(int id) {
        if (tokenizer.isSpecial(id) || !tokenizer.hasPiece(id)) {
            return false;
        }
        if (size == window.length) {
            window = Arrays.copyOf(window, 2 * size);
        }
        window[size++] = id;
        return true;
    }

    private String text() {
        return tokenizer.decodePlain(window, size);
    }

    private String handOut(String text, int end) {
        if (end <= shown) {
            return "";
        }
        String ready = text.substring(shown, end);
        shown = end;
        return ready;
    }

    /** Keeps the last piece alone if it is whole characters: the text of what follows does not depend on more. */
    private void cutWindow(String text) {
        int last = window[size - 1];
        String alone = tokenizer.decodePlain(new int[] {last}, 1);
        if (!alone.isEmpty() && alone.indexOf(REPLACEMENT) < 0 && text.endsWith(alone)) {
            window[0] = last;
            size = 1;
            shown = alone.length();
        }
    }

    private boolean isByte(int id) {
        String piece = tokenizer.piece(id);
        return piece.length() == 6 && piece.startsWith("<0x") && piece.endsWith(">");
    }
}
