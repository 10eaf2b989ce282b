package io.github.tornadotransformers.runner.chat;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.Interruption;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** The lines of a pipe or a file: without a prompt, and Ctrl-C ends all. */
public final class PipedLines implements ChatLines {
    private final BufferedReader reader;
    private final Interruption interruption = Interruption.watch();

    public PipedLines(InputStream stream) {
        reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8.newDecoder()));
    }

    @Override
    public Optional<String> next(String prompt) {
        try {
            return Optional.ofNullable(reader.readLine());
        } catch (CharacterCodingException e) {
            throw Failure.of("standard input is not UTF-8 text", e);
        } catch (IOException e) {
            throw Failure.of("standard input cannot be read: " + IoReason.of(e), e);
        }
    }

    @Override
    public boolean interrupted() {
        return interruption.requested();
    }

    @Override
    public boolean endsOnInterrupt() {
        return true;
    }

    @Override
    public void close() {
        interruption.close();
    }
}
