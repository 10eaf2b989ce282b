package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where a command's text comes from, by one rule for all commands: what is written on the command line, or what
 * {@link TextFile} names; {@value #STANDARD_INPUT} in place of either is standard input, and so is nothing at all where
 * something is piped in. Whatever is read is taken as it is, to the last newline.
 */
final class TextInput {
    static final String STANDARD_INPUT = "-";

    private final Console console;

    TextInput(Console console) {
        this.console = console;
    }

    /**
     * A text that is written on the command line or named by {@code --file}.
     *
     * @param label of the parameter or option that takes the text, for a message
     * @param text what it was given; null where it was not
     * @return empty where neither is given
     * @throws Failure if both are, or one cannot be read or is not UTF-8
     */
    Optional<String> given(String label, String text, TextFile file) {
        if (text != null && file.path != null) {
            throw Failure.usage(label + " and " + TextFile.OPTION + " are given, expected one of them");
        }
        if (file.path != null) {
            return Optional.of(file(file.path));
        }
        return Optional.ofNullable(text).map(each -> each.equals(STANDARD_INPUT) ? standardInput() : each);
    }

    /** What is piped in; empty where nothing is. */
    Optional<String> piped() {
        return console.in().brings() ? Optional.of(standardInput()) : Optional.empty();
    }

    /** @throws Failure if it cannot be read or is not UTF-8 */
    String standardInput() {
        return decode(console.in().readAll(console.err()), "standard input");
    }

    /**
     * @param name of a file, or {@value #STANDARD_INPUT}
     * @throws Failure if it cannot be read or is not UTF-8
     */
    String file(String name) {
        if (name.equals(STANDARD_INPUT)) {
            return standardInput();
        }
        Path path = textFile(name);
        try {
            return decode(Files.readAllBytes(path), name);
        } catch (IOException e) {
            throw Failure.of(path + " cannot be read: " + IoReason.of(e), e);
        }
    }

    /**
     * The bytes of a file, to be closed by the caller.
     *
     * @throws Failure if it cannot be read
     */
    static InputStream open(String name) {
        Path path = textFile(name);
        try {
            return Files.newInputStream(path);
        } catch (IOException e) {
            throw Failure.of(path + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private static Path textFile(String name) {
        Path path = Path.of(name);
        if (Files.isDirectory(path)) {
            throw Failure.of(path + " is a folder, expected a text file");
        }
        if (Files.notExists(path)) {
            throw Failure.of(path + " does not exist, expected a text file");
        }
        return path;
    }

    private static String decode(byte[] bytes, String source) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw Failure.of(source + " is not UTF-8 text", e);
        }
    }
}
