package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The lines of an input that may be a pipe, whose writer waits for answers before it writes more: a thread reads them ahead, so
 * that nobody waits for a line while there is something to do. Blank lines are left out.
 */
final class BatchLines implements AutoCloseable {
    private static final int AHEAD = 64;

    private final InputStream stream;
    private final String name;
    private final BlockingQueue<Piece> read = new ArrayBlockingQueue<>(AHEAD);
    private final Thread reader;
    private boolean ended;

    /**
     * @param number in the input, 1 being the first
     * @param text empty where the line is not UTF-8
     */
    record Line(long number, Optional<String> text) {}

    /** What the thread hands over. */
    private sealed interface Piece {}

    private record Whole(Line line) implements Piece {}

    private record End(Optional<IOException> failure) implements Piece {}

    /** @param name of the input, for a message; the stream is closed with this */
    BatchLines(InputStream stream, String name) {
        this.stream = new BufferedInputStream(stream);
        this.name = name;
        reader = Thread.ofPlatform().daemon().name("batch input").start(this::read);
    }

    private void read() {
        try {
            Optional<IOException> failure = Optional.empty();
            try {
                readLines();
            } catch (IOException e) {
                failure = Optional.of(e);
            }
            read.put(new End(failure));
        } catch (InterruptedException _) {
            // Nobody wants more.
        }
    }

    private void readLines() throws IOException, InterruptedException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long number = 1;
        for (int next = stream.read(); next >= 0 || bytes.size() > 0; next = stream.read()) {
            if (next >= 0 && next != '\n') {
                bytes.write(next);
                continue;
            }
            Optional<String> text = decoded(bytes.toByteArray());
            if (text.isEmpty() || !text.get().isBlank()) {
                read.put(new Whole(new Line(number, text)));
            }
            bytes.reset();
            number++;
            if (next < 0) {
                return;
            }
        }
    }

    private static Optional<String> decoded(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException _) {
            return Optional.empty();
        }
    }

    /** Whether all lines have been taken. */
    boolean hasEnded() {
        return ended;
    }

    /**
     * The next line, if there is one after so long.
     *
     * @throws Failure if the input cannot be read
     */
    Optional<Line> next(Duration patience) {
        if (ended) {
            return Optional.empty();
        }
        try {
            Piece piece = read.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
            return switch (piece) {
                case null -> Optional.empty();
                case Whole whole -> Optional.of(whole.line);
                case End end -> {
                    ended = true;
                    if (end.failure.isPresent()) {
                        throw Failure.of(
                                name + " cannot be read: " + IoReason.of(end.failure.get()), end.failure.get());
                    }
                    yield Optional.empty();
                }
            };
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            ended = true;
            return Optional.empty();
        }
    }

    /** Reads no more; a thread that waits for the keyboard is left to the end of the process. */
    @Override
    public void close() {
        reader.interrupt();
    }
}
