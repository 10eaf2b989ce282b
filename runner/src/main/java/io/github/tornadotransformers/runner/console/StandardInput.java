package io.github.tornadotransformers.runner.console;

import io.github.tornadotransformers.models.IoReason;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Standard input, and whether it brings a text without being asked for one. */
public final class StandardInput {
    private static final Path DESCRIPTOR = Path.of("/dev/stdin");

    /** The kind of a file among the bits of its mode, as stat(2) gives them. */
    private static final int KIND = 0xF000;

    private static final int PIPE = 0x1000;
    private static final int FILE = 0x8000;
    private static final int SOCKET = 0xC000;

    private static final String WAITING = "reading the text from standard input, to its end …";

    private final InputStream stream;
    private final boolean piped;

    private StandardInput(InputStream stream, boolean piped) {
        this.stream = stream;
        this.piped = piped;
    }

    static StandardInput ofProcess() {
        return new StandardInput(System.in, isPiped());
    }

    /** What another program or a file sends. */
    public static StandardInput piped(InputStream stream) {
        return new StandardInput(stream, true);
    }

    /** A keyboard, or /dev/null: read only by whoever asks for it. */
    public static StandardInput unpiped(InputStream stream) {
        return new StandardInput(stream, false);
    }

    /** Whether a pipe or a file was put there, as by {@code |} and {@code <}: not a keyboard, and not /dev/null. */
    public boolean brings() {
        return piped;
    }

    /** For whoever reads it piece by piece. */
    public InputStream stream() {
        return stream;
    }

    /**
     * All of it, to its end.
     *
     * @param notices get a line where it takes a while
     * @throws Failure if it cannot be read
     */
    public byte[] readAll(PrintStream notices) {
        try (SlowNotice _ = SlowNotice.after(notices::println, () -> WAITING)) {
            return stream.readAllBytes();
        } catch (IOException e) {
            throw Failure.of("standard input cannot be read: " + IoReason.of(e), e);
        }
    }

    private static boolean isPiped() {
        try {
            int kind = (Integer) Files.getAttribute(DESCRIPTOR, "unix:mode") & KIND;
            return kind == PIPE || kind == FILE || kind == SOCKET;
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
