package io.github.tornadotransformers.runner.console;

import io.github.tornadotransformers.models.Quoted;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The bytes of the process's arguments, where the system shows them. The JVM decodes arguments in the locale's encoding, and
 * replaces what it cannot decode without a word.
 */
public final class ArgumentBytes {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final int ASCII_END = 0x80;

    private ArgumentBytes() {}

    /** What is wrong with the first argument whose text was lost: a line for the user. */
    public static Optional<String> fault(String... arguments) {
        List<String> all = List.of(arguments);
        if (all.stream().allMatch(each -> each.chars().allMatch(character -> character < ASCII_END))) {
            return Optional.empty();
        }
        List<byte[]> raw = raw();
        int before = raw.size() - arguments.length;
        for (int i = 0; before >= 0 && i < arguments.length; i++) {
            Optional<String> text = utf8(raw.get(before + i));
            if (text.isEmpty()) {
                return Optional.of("argument " + (i + 1) + " is not UTF-8 text: " + Quoted.text(arguments[i]));
            }
            if (!text.get().equals(arguments[i])) {
                return Optional.of("the JVM reads arguments in " + System.getProperty("native.encoding")
                        + ", expected UTF-8: start ./transformers, or set LC_ALL=C.UTF-8");
            }
        }
        return Optional.empty();
    }

    /** Each argument ends with a zero, the command's own before the program's. */
    private static List<byte[]> raw() {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(COMMAND_LINE);
        } catch (IOException e) {
            return List.of();
        }
        List<byte[]> raw = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == 0) {
                raw.add(Arrays.copyOfRange(bytes, start, i));
                start = i + 1;
            }
        }
        return raw;
    }

    private static Optional<String> utf8(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }
}
