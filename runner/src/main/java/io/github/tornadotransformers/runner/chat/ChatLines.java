package io.github.tornadotransformers.runner.chat;

import java.util.Optional;

/** Where a person's lines come from. */
public interface ChatLines extends AutoCloseable {
    /**
     * The next line.
     *
     * @param prompt stands before it on a terminal
     * @return empty at the end
     * @throws LineCancelledException if the person took back the line by Ctrl-C
     */
    Optional<String> next(String prompt) throws LineCancelledException;

    /** Whether the person has pressed Ctrl-C since {@link #next} has returned. */
    boolean interrupted();

    /** Whether Ctrl-C ends the conversation, and not an answer. */
    boolean endsOnInterrupt();

    @Override
    void close();

    /** That a line was taken back. */
    final class LineCancelledException extends Exception {
        private static final long serialVersionUID = 1L;
    }
}
