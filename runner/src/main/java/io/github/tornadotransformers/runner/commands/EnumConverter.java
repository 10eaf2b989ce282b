package io.github.tornadotransformers.runner.commands;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Takes an enum's constants by their names in lower case, as the help spells them. */
record EnumConverter<E extends Enum<E>>(Class<E> type) implements ITypeConverter<E> {
    @Override
    public E convert(String value) {
        for (E constant : type.getEnumConstants()) {
            if (spelled(constant).equals(value)) {
                return constant;
            }
        }
        String expected = Arrays.stream(type.getEnumConstants())
                .map(EnumConverter::spelled)
                .collect(Collectors.joining(", "));
        throw new TypeConversionException("found '" + value + "', expected one of " + expected);
    }

    /** A constant as it is written in options, messages and JSON. */
    static String spelled(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
