package io.github.tornadotransformers.runner.console;

import io.github.tornadotransformers.models.IoReason;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.temporal.ChronoUnit;

/**
 * A stream for messages, which shows the control characters that they quote. A log has each of its lines too, behind the time at which
 * it began (UTC, ISO 8601). Safe for use by several threads.
 */
public final class Messages extends PrintStream {
    private final Copy copy;

    private Messages(Copy copy) {
        super(new VisibleControls(copy), true, StandardCharsets.UTF_8);
        this.copy = copy;
    }

    public static Messages to(OutputStream stream) {
        return to(stream, Clock.systemUTC());
    }

    static Messages to(OutputStream stream, Clock clock) {
        return new Messages(new Copy(stream, clock));
    }

    /**
     * Copies what follows to the end of a file, which is made where it is not there. A file that cannot be written any more is said so,
     * and left alone: messages go on.
     *
     * @throws IOException if it cannot be opened for writing
     */
    public void log(Path file) throws IOException {
        flush();
        copy.log(file);
    }

    /** A line of the log alone. */
    public void log(String line) {
        flush();
        copy.line(line);
    }

    /** The stream, and what has a copy. */
    private static final class Copy extends OutputStream {
        private final OutputStream stream;
        private final Clock clock;
        private Path file;
        private OutputStream log;
        private boolean withinLine;

        /** Of the log: said when a line ends. */
        private IOException failure;

        Copy(OutputStream stream, Clock clock) {
            this.stream = stream;
            this.clock = clock;
        }

        synchronized void log(Path newFile) throws IOException {
            log = Files.newOutputStream(newFile, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            file = newFile;
        }

        synchronized void line(String line) {
            copy((line + "\n").getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
            stream.write(bytes, offset, length);
            byte[] written = new byte[length];
            System.arraycopy(bytes, offset, written, 0, length);
            copy(written);
            if (failure != null && length > 0 && bytes[offset + length - 1] == '\n') {
                String said = "the log " + file + " ends here, it cannot be written: " + IoReason.of(failure) + "\n";
                failure = null;
                stream.write(said.getBytes(StandardCharsets.UTF_8));
            }
        }

        private void copy(byte[] bytes) {
            if (log == null) {
                return;
            }
            try {
                int start = 0;
                while (start < bytes.length) {
                    int end = start;
                    while (end < bytes.length && bytes[end] != '\n') {
                        end++;
                    }
                    if (!withinLine) {
                        log.write((clock.instant().truncatedTo(ChronoUnit.MILLIS) + " ")
                                .getBytes(StandardCharsets.US_ASCII));
                    }
                    withinLine = end == bytes.length;
                    int next = Math.min(end + 1, bytes.length);
                    log.write(bytes, start, next - start);
                    start = next;
                }
            } catch (IOException e) {
                log = null;
                failure = e;
            }
        }

        @Override
        public synchronized void flush() throws IOException {
            stream.flush();
        }
    }
}
