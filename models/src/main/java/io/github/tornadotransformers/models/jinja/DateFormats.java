package io.github.tornadotransformers.models.jinja;

import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** {@code strftime}, in English as in C's locale. */
final class DateFormats {
    private DateFormats() {}

    static String format(String pattern, ZonedDateTime time) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c != '%' || i + 1 == pattern.length()) {
                out.append(c);
                continue;
            }
            boolean unpadded = pattern.charAt(i + 1) == '-' && i + 2 < pattern.length();
            i += unpadded ? 2 : 1;
            out.append(directive(pattern.charAt(i), unpadded, time));
        }
        return out.toString();
    }

    private static String directive(char directive, boolean unpadded, ZonedDateTime time) {
        String pattern = switch (directive) {
            case 'Y' -> "uuuu";
            case 'y' -> "uu";
            case 'm' -> "MM";
            case 'd' -> "dd";
            case 'B' -> "MMMM";
            case 'b', 'h' -> "MMM";
            case 'A' -> "EEEE";
            case 'a' -> "EEE";
            case 'H' -> "HH";
            case 'I' -> "hh";
            case 'M' -> "mm";
            case 'S' -> "ss";
            case 'f' -> "SSSSSS";
            case 'j' -> "DDD";
            case 'p' -> "a";
            case 'Z' -> "zzz";
            case 'z' -> "xx";
            case 'F' -> "uuuu-MM-dd";
            case 'T' -> "HH:mm:ss";
            case 'R' -> "HH:mm";
            case 'D' -> "MM/dd/uu";
            case 'x' -> "MM/dd/uu";
            case 'X' -> "HH:mm:ss";
            case 'c' -> "EEE MMM ppd HH:mm:ss uuuu";
            case 'e' -> "ppd";
            default -> "";
        };
        if (pattern.isEmpty()) {
            return switch (directive) {
                case '%' -> "%";
                case 'n' -> "\n";
                case 't' -> "\t";
                case 's' -> Long.toString(time.toEpochSecond());
                default -> throw new TemplateException("the date format %" + directive + " is not implemented");
            };
        }
        String text = DateTimeFormatter.ofPattern(pattern, Locale.US).format(time);
        return unpadded ? text.replaceFirst("^[0 ]+(?=.)", "") : text;
    }
}
