package io.github.tornadotransformers.models.jinja;

import io.github.tornadotransformers.models.jinja.Token.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cuts a template into tokens. White space around tags is treated as {@code trim_blocks} and {@code lstrip_blocks} say: what precedes a block's
 * or comment's tag on its line goes, and so does the line's end after it; {@code -} removes all white space on its side, {@code +} keeps it.
 * A last newline is dropped.
 */
final class Lexer {
    private static final Pattern RAW_BEGIN = Pattern.compile("\\{%([-+]?)\\s*raw\\s*(-?)%\\}");
    private static final Pattern RAW_END = Pattern.compile("\\{%([-+]?)\\s*endraw\\s*([-+]?)%\\}");
    private static final Pattern INTEGER =
            Pattern.compile("0[bB](_?[01])+|0[oO](_?[0-7])+|0[xX](_?[0-9a-fA-F])+|[1-9](_?\\d)*|0(_?0)*");
    private static final Pattern FLOAT =
            Pattern.compile("(?<!\\.)\\d(_?\\d)*((\\.\\d(_?\\d)*)?[eE][+-]?\\d(_?\\d)*|\\.\\d(_?\\d)*)");
    private static final Pattern NAME = Pattern.compile("[\\p{L}\\p{Nl}_][\\p{L}\\p{Nl}\\p{M}\\p{Nd}\\p{Pc}]*");
    private static final Pattern OPERATOR = Pattern.compile("//|\\*\\*|==|!=|>=|<=|[-+/*%~\\[\\](){}<>=.:|,;]");

    private final String source;
    private final List<Token> tokens = new ArrayList<>();
    private int at;
    private int line = 1;

    private Lexer(String source) {
        this.source = source;
    }

    static List<Token> tokens(String template) {
        String unix = template.replace("\r\n", "\n").replace('\r', '\n');
        Lexer lexer = new Lexer(unix.endsWith("\n") ? unix.substring(0, unix.length() - 1) : unix);
        lexer.text();
        lexer.add(Kind.END, "");
        return lexer.tokens;
    }

    private void text() {
        int from = 0;
        boolean lineStarts = true;
        while (from <= source.length()) {
            int tag = nextTag(from);
            if (tag < 0) {
                addText(source.substring(from));
                return;
            }
            char kind = source.charAt(tag + 1);
            char sign = tag + 2 < source.length() ? source.charAt(tag + 2) : ' ';
            addText(before(source.substring(from, tag), sign, kind != '{', lineStarts));
            skipTo(tag);
            lineStarts = switch (kind) {
                case '#' -> comment();
                case '{' -> variable(sign);
                default -> block(sign);
            };
            from = at;
        }
    }

    private int nextTag(int from) {
        for (int i = source.indexOf('{', from); i >= 0 && i + 1 < source.length(); i = source.indexOf('{', i + 1)) {
            if ("{%#".indexOf(source.charAt(i + 1)) >= 0) {
                return i;
            }
        }
        return -1;
    }

    /** The text in front of a tag. */
    private static String before(String text, char sign, boolean block, boolean lineStarts) {
        if (sign == '-') {
            return stripEnd(text);
        }
        int newline = text.lastIndexOf('\n') + 1;
        boolean onlySpace = text.substring(newline).chars().allMatch(Lexer::isSpace);
        return block && sign != '+' && onlySpace && (newline > 0 || lineStarts) ? text.substring(0, newline) : text;
    }

    /** Each of these stands after its tag, and says whether a new line begins there. */
    private boolean comment() {
        int end = source.indexOf("#}", at + 2);
        if (end < 0) {
            throw TemplateException.atLine(line, "a comment has no end");
        }
        char sign = end > at + 2 ? source.charAt(end - 1) : ' ';
        skipTo(end + 2);
        return afterBlock(sign);
    }

    private boolean variable(char sign) {
        add(Kind.VARIABLE_BEGIN, "{{");
        skipTo(at + (sign == '-' || sign == '+' ? 3 : 2));
        boolean strips = expression("}}", Kind.VARIABLE_END) == '-';
        return strips && skipSpace();
    }

    private boolean block(char sign) {
        Matcher raw = RAW_BEGIN.matcher(source).region(at, source.length());
        if (raw.lookingAt()) {
            return raw(raw);
        }
        add(Kind.BLOCK_BEGIN, "{%");
        skipTo(at + (sign == '-' || sign == '+' ? 3 : 2));
        return afterBlock(expression("%}", Kind.BLOCK_END));
    }

    private boolean raw(Matcher begin) {
        skipTo(begin.end());
        boolean lineStarts = afterBlock(begin.group(2).isEmpty() ? ' ' : '-');
        Matcher end = RAW_END.matcher(source);
        if (!end.find(at)) {
            throw TemplateException.atLine(line, "raw has no endraw");
        }
        char sign = end.group(1).isEmpty() ? ' ' : end.group(1).charAt(0);
        addText(before(source.substring(at, end.start()), sign, true, lineStarts));
        skipTo(end.end());
        return afterBlock(end.group(2).isEmpty() ? ' ' : end.group(2).charAt(0));
    }

    private boolean afterBlock(char sign) {
        if (sign == '-') {
            return skipSpace();
        }
        if (sign != '+' && at < source.length() && source.charAt(at) == '\n') {
            skipTo(at + 1);
            return true;
        }
        return false;
    }

    /** Tokens up to the tag's end; the sign in front of that. */
    private char expression(String end, Kind endKind) {
        Deque<Character> open = new ArrayDeque<>();
        while (true) {
            skipSpace();
            if (at >= source.length()) {
                throw TemplateException.atLine(line, "a tag has no " + end);
            }
            char c = source.charAt(at);
            if (open.isEmpty()) {
                boolean signed =
                        (c == '-' || (c == '+' && endKind == Kind.BLOCK_END)) && source.startsWith(end, at + 1);
                if (signed || source.startsWith(end, at)) {
                    add(endKind, end);
                    skipTo(at + (signed ? 3 : 2));
                    return signed ? c : ' ';
                }
            }
            if (c == '"' || c == '\'') {
                string(c);
            } else if (!matches(FLOAT, Kind.FLOAT) && !matches(INTEGER, Kind.INTEGER) && !matches(NAME, Kind.NAME)) {
                operator(open);
            }
        }
    }

    private boolean matches(Pattern pattern, Kind kind) {
        Matcher matcher = pattern.matcher(source).region(at, source.length()).useTransparentBounds(true);
        if (!matcher.lookingAt()) {
            return false;
        }
        add(kind, matcher.group());
        skipTo(matcher.end());
        return true;
    }

    private void operator(Deque<Character> open) {
        Matcher matcher = OPERATOR.matcher(source).region(at, source.length());
        if (!matcher.lookingAt()) {
            throw TemplateException.atLine(
                    line, "unexpected character '" + Character.toString(source.codePointAt(at)) + "'");
        }
        String operator = matcher.group();
        switch (operator) {
            case "(" -> open.push(')');
            case "[" -> open.push(']');
            case "{" -> open.push('}');
            case ")", "]", "}" -> {
                if (open.isEmpty() || open.pop() != operator.charAt(0)) {
                    throw TemplateException.atLine(line, "unexpected '" + operator + "'");
                }
            }
            default -> {
                // opens and closes nothing
            }
        }
        add(Kind.OPERATOR, operator);
        skipTo(matcher.end());
    }

    private void string(char quote) {
        int begin = line;
        StringBuilder value = new StringBuilder();
        int i = at + 1;
        while (i < source.length() && source.charAt(i) != quote) {
            char c = source.charAt(i++);
            if (c == '\\' && i < source.length()) {
                i = escape(i, value);
            } else {
                value.append(c);
            }
        }
        if (i >= source.length()) {
            throw TemplateException.atLine(begin, "a string has no end");
        }
        skipTo(i + 1);
        tokens.add(new Token(Kind.STRING, value.toString(), begin));
    }

    /** As Python reads the escape that goes on at {@code i}; where the string goes on. */
    private int escape(int i, StringBuilder value) {
        char c = source.charAt(i);
        int simple = "\\'\"abfnrtv\n".indexOf(c);
        if (simple >= 0) {
            value.append("\\'\"\u0007\b\f\n\r\t\u000b", Math.min(simple, 10), Math.min(simple + 1, 10));
            return i + 1;
        }
        if (c >= '0' && c <= '7') {
            int end = i;
            while (end < Math.min(i + 3, source.length()) && source.charAt(end) >= '0' && source.charAt(end) <= '7') {
                end++;
            }
            value.appendCodePoint(Integer.parseInt(source.substring(i, end), 8));
            return end;
        }
        int digits = switch (c) {
            case 'x' -> 2;
            case 'u' -> 4;
            case 'U' -> 8;
            default -> 0;
        };
        if (digits == 0) {
            value.append('\\').append(c);
            return i + 1;
        }
        int end = i + 1 + digits;
        try {
            value.appendCodePoint(Integer.parseInt(source.substring(i + 1, end), 16));
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw TemplateException.atLine(line, "a string has a broken \\" + c);
        }
        return end;
    }

    /** Whether a newline was among it, at the end. */
    private boolean skipSpace() {
        int end = at;
        while (end < source.length() && isSpace(source.charAt(end))) {
            end++;
        }
        boolean newline = end > at && source.charAt(end - 1) == '\n';
        skipTo(end);
        return newline;
    }

    private void skipTo(int end) {
        for (int i = at; i < end; i++) {
            if (source.charAt(i) == '\n') {
                line++;
            }
        }
        at = end;
    }

    private void addText(String text) {
        if (!text.isEmpty()) {
            add(Kind.TEXT, text);
        }
    }

    private void add(Kind kind, String text) {
        tokens.add(new Token(kind, text, line));
    }

    private static String stripEnd(String text) {
        int end = text.length();
        while (end > 0 && isSpace(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(0, end);
    }

    /** White space as Python's strings and patterns know it. */
    static boolean isSpace(int c) {
        return Character.isWhitespace(c) || c == '\u00a0' || c == '\u0085' || c == '\u2007' || c == '\u202f';
    }
}
