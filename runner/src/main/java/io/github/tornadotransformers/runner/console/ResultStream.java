package io.github.tornadotransformers.runner.console;

import io.github.tornadotransformers.models.IoReason;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Standard output: the result and nothing else, in UTF-8, every piece at once. Unlike a PrintStream it tells of errors. */
public final class ResultStream {
    private final OutputStream stream;
    private final boolean onTerminal;

    /** Gets every byte as it is. */
    public ResultStream(OutputStream stream) {
        this.stream = stream;
        onTerminal = false;
    }

    private ResultStream(VisibleControls terminal) {
        stream = terminal;
        onTerminal = true;
    }

    /** Shows control characters instead of letting the terminal obey them. */
    public static ResultStream onTerminal(OutputStream terminal) {
        return new ResultStream(new VisibleControls(terminal));
    }

    /** Whether someone watches it. */
    boolean isTerminal() {
        return onTerminal;
    }

    /**
     * @throws ClosedPipeException if nobody reads any more
     * @throws Failure if it cannot be written, for instance to a full disk
     */
    public void print(String text) {
        try {
            stream.write(text.getBytes(StandardCharsets.UTF_8));
            stream.flush();
        } catch (IOException e) {
            if (String.valueOf(e.getMessage()).contains("Broken pipe")) {
                throw new ClosedPipeException(e);
            }
            throw Failure.of("standard output cannot be written: " + IoReason.of(e), e);
        }
    }

    public void println(String text) {
        print(text + "\n");
    }
}
