package io.github.tornadotransformers.runner.console;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Standard output: the result and nothing else, in UTF-8, every piece at once. Unlike a PrintStream it tells of errors. */
public final class ResultStream {
    private final OutputStream stream;

    public ResultStream(OutputStream stream) {
        this.stream = stream;
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
            String reason = String.valueOf(e.getMessage());
            if (reason.contains("Broken pipe")) {
                throw new ClosedPipeException(e);
            }
            throw Failure.of("standard output cannot be written: " + reason, e);
        }
    }

    public void println(String text) {
        print(text + "\n");
    }
}
