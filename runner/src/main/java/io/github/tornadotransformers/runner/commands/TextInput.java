package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Reads a text as it is, to the last newline. */
final class TextInput {
    static final String STANDARD_INPUT = "-";

    private TextInput() {}

    /** @throws Failure if it cannot be read or is not UTF-8 */
    static String standardInput(Console console) {
        try {
            return decode(console.in().readAllBytes(), "standard input");
        } catch (IOException e) {
            throw Failure.of("standard input cannot be read: " + e.getMessage(), e);
        }
    }

    /** @throws Failure if the file cannot be read or is not UTF-8 */
    static String file(Path file) {
        if (Files.isDirectory(file)) {
            throw Failure.of(file + " is a folder, expected a text file");
        }
        try {
            return decode(Files.readAllBytes(file), file.toString());
        } catch (NoSuchFileException e) {
            throw Failure.of(file + " does not exist, expected a text file", e);
        } catch (AccessDeniedException e) {
            throw Failure.of(file + " cannot be read: no permission", e);
        } catch (IOException e) {
            throw Failure.of(file + " cannot be read: " + e.getMessage(), e);
        }
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
