package io.github.tornadotransformers.runner.console;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The terminal's last line, which is written over and over while something takes long. Nothing where nobody watches. Safe for
 * use by several threads.
 */
public final class StatusLine {
    /** What terminals take as an order to go to the line's begin, and to clear what is behind the cursor. */
    private static final String TO_BEGIN = "\r";

    private static final String CLEAR_REST = "\033[K";

    private static final StatusLine NONE = new StatusLine(OutputStream.nullOutputStream());

    private final OutputStream terminal;
    private final VisibleControls text;
    private boolean clearsAtTheEnd;
    private boolean held;
    private boolean shown;

    private StatusLine(OutputStream terminal) {
        this.terminal = terminal;
        text = new VisibleControls(terminal);
    }

    /** Shows nothing. */
    public static StatusLine none() {
        return NONE;
    }

    public static StatusLine on(OutputStream terminal) {
        return new StatusLine(terminal);
    }

    /** Whether someone watches it. */
    public boolean isTerminal() {
        return this != NONE;
    }

    /** @param line stands there until it is written over or cleared; control characters in it are shown, not obeyed */
    public synchronized void show(String line) {
        if (!held) {
            write(line);
        }
    }

    /** As {@link #show}, for what happens within something that shows itself: that waits until this is cleared. */
    public synchronized void hold(String line) {
        held = true;
        write(line);
    }

    public synchronized void clear() {
        held = false;
        if (shown) {
            shown = false;
            send("");
        }
    }

    private void write(String line) {
        if (isTerminal()) {
            clearAtTheEnd();
            shown = true;
            send(line);
        }
    }

    /** A terminal that cannot be written is nothing to end a command for. */
    private void send(String line) {
        try {
            terminal.write(TO_BEGIN.getBytes(StandardCharsets.US_ASCII));
            text.write(line.getBytes(StandardCharsets.UTF_8));
            text.flush();
            terminal.write(CLEAR_REST.getBytes(StandardCharsets.US_ASCII));
            terminal.flush();
        } catch (IOException _) {
            shown = false;
        }
    }

    /** After Ctrl-C the shell's prompt stands where the line was. */
    private void clearAtTheEnd() {
        if (!clearsAtTheEnd) {
            clearsAtTheEnd = true;
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(this::clear, "status line"));
            } catch (IllegalStateException _) {
                // The JVM is ending.
            }
        }
    }
}
