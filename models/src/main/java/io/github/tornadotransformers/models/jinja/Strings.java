package io.github.tornadotransformers.models.jinja;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;

/** Python's str: characters are code points. */
final class Strings {
    private static final String LINE_ENDS = "\n\r\u000b\f\u001c\u001d\u001e\u0085\u2028\u2029";

    private Strings() {}

    static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    static List<Object> characters(String text) {
        List<Object> characters = new ArrayList<>(text.length());
        text.codePoints().forEach(c -> characters.add(Character.toString(c)));
        return characters;
    }

    /** By code points, which Java's own order is not. */
    static int compare(String a, String b) {
        int[] left = a.codePoints().toArray();
        int[] right = b.codePoints().toArray();
        return Arrays.compare(left, right);
    }

    static boolean isPrintable(int c) {
        return c == ' '
                || switch (Character.getType(c)) {
                    case Character.CONTROL,
                            Character.FORMAT,
                            Character.SURROGATE,
                            Character.PRIVATE_USE,
                            Character.UNASSIGNED,
                            Character.LINE_SEPARATOR,
                            Character.PARAGRAPH_SEPARATOR,
                            Character.SPACE_SEPARATOR -> false;
                    default -> true;
                };
    }

    /**
     * @param characters to remove, each by itself; null: white space
     * @param left, right on which sides
     */
    static String strip(String text, String characters, boolean left, boolean right) {
        IntPredicate removed = characters == null ? Lexer::isSpace : c -> characters.indexOf(c) >= 0;
        int from = 0;
        int to = text.length();
        while (left && from < to && removed.test(text.codePointAt(from))) {
            from += Character.charCount(text.codePointAt(from));
        }
        while (right && to > from && removed.test(text.codePointBefore(to))) {
            to -= Character.charCount(text.codePointBefore(to));
        }
        return text.substring(from, to);
    }

    /**
     * @param separator null: any white space, and no empty parts
     * @param most how often it is cut; negative: as often as there is where
     */
    static List<Object> split(String text, String separator, int most) {
        List<Object> parts = new ArrayList<>();
        String rest = separator == null ? strip(text, null, true, false) : text;
        for (int cuts = 0; most < 0 || cuts < most; cuts++) {
            int at = separator == null ? firstSpace(rest) : rest.indexOf(separator);
            if (at < 0) {
                break;
            }
            parts.add(rest.substring(0, at));
            rest = separator == null
                    ? strip(rest.substring(at), null, true, false)
                    : rest.substring(at + separator.length());
        }
        if (separator != null) {
            parts.add(rest);
        } else if (!rest.isEmpty()) {
            parts.add(most < 0 || parts.size() < most ? strip(rest, null, false, true) : rest);
        }
        return parts;
    }

    /** As {@link #split}, cutting from the end. */
    static List<Object> splitFromEnd(String text, String separator, int most) {
        String reversed = new StringBuilder(text).reverse().toString();
        String cut = separator == null
                ? null
                : new StringBuilder(separator).reverse().toString();
        List<Object> parts = new ArrayList<>();
        for (Object part : split(reversed, cut, most)) {
            parts.addFirst(new StringBuilder((String) part).reverse().toString());
        }
        return parts;
    }

    private static int firstSpace(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Lexer.isSpace(text.charAt(i))) {
                return i;
            }
        }
        return -1;
    }

    static List<Object> lines(String text, boolean keepEnds) {
        List<Object> lines = new ArrayList<>();
        int from = 0;
        while (from < text.length()) {
            int end = from;
            while (end < text.length() && LINE_ENDS.indexOf(text.charAt(end)) < 0) {
                end++;
            }
            int next = Math.min(text.length(), text.startsWith("\r\n", end) ? end + 2 : end + 1);
            lines.add(text.substring(from, keepEnds ? next : end));
            from = next;
        }
        return lines;
    }

    /** {@code replace(old, new, most)}; negative: all. */
    static String replace(String text, String old, String by, int most) {
        if (most < 0) {
            return text.replace(old, by);
        }
        StringBuilder out = new StringBuilder();
        int from = 0;
        for (int done = 0; done < most; done++) {
            int at = text.indexOf(old, from);
            if (at < 0) {
                break;
            }
            out.append(text, from, at).append(by);
            from = at + old.length();
            if (old.isEmpty()) {
                if (from >= text.length()) {
                    break;
                }
                out.append(text.charAt(from++));
            }
        }
        return out.append(text.substring(Math.min(from, text.length()))).toString();
    }

    static String capitalize(String text) {
        if (text.isEmpty()) {
            return text;
        }
        int first = text.offsetByCodePoints(0, 1);
        return Character.toString(Character.toTitleCase(text.codePointAt(0)))
                + text.substring(first).toLowerCase(Locale.ROOT);
    }

    /** Letters after others that are not letters are upper case, the rest lower. */
    static String title(String text) {
        StringBuilder out = new StringBuilder();
        boolean inWord = false;
        for (int c : text.codePoints().toArray()) {
            out.appendCodePoint(inWord ? Character.toLowerCase(c) : Character.toTitleCase(c));
            inWord = Character.isLetter(c);
        }
        return out.toString();
    }

    static String swapCase(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints()
                .forEach(c -> out.appendCodePoint(
                        Character.isUpperCase(c) ? Character.toLowerCase(c) : Character.toUpperCase(c)));
        return out.toString();
    }

    /** Whether there are characters, and all are of a kind. */
    static boolean all(String text, IntPredicate kind) {
        return !text.isEmpty() && text.codePoints().allMatch(kind);
    }

    /** Whether there are letters of one case, and none of the other. */
    static boolean cased(String text, IntPredicate one, IntPredicate other) {
        return text.codePoints().anyMatch(one) && text.codePoints().noneMatch(other);
    }

    static int count(String text, String part) {
        if (part.isEmpty()) {
            return length(text) + 1;
        }
        int count = 0;
        for (int at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length())) {
            count++;
        }
        return count;
    }

    /** In code points; -1: not there. */
    static long find(String text, String part, boolean last) {
        int at = last ? text.lastIndexOf(part) : text.indexOf(part);
        return at < 0 ? -1 : text.codePointCount(0, at);
    }
}
