package io.github.tornadotransformers.runner.commands;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a size of memory: {@code 512M}, {@code 2G}, {@code 1.5GiB}, or bytes; units are powers of 1024. */
final class ByteSize implements ITypeConverter<Long> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?)\\s*(?:([KMGT])(?:I?B)?|B)?");
    private static final String UNITS = "KMGT";

    @Override
    public Long convert(String value) {
        Matcher matcher = FORM.matcher(value.strip().toUpperCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new TypeConversionException("'" + value + "' is no size: expected one such as 512M or 2G");
        }
        int unit = matcher.group(2) == null ? 0 : 1 + UNITS.indexOf(matcher.group(2));
        double bytes = Math.scalb(Double.parseDouble(matcher.group(1)), 10 * unit);
        if (bytes > Long.MAX_VALUE) {
            throw new TypeConversionException("'" + value + "' is more than any machine has");
        }
        return (long) bytes;
    }
}
