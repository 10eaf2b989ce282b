package io.github.tornadotransformers.runner.chat;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.completer.StringsCompleter;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** A keyboard, with editing, a history that ↑ goes back in, and commands that Tab completes. Ctrl-C ends what is going on, and no more. */
public final class TerminalLines implements ChatLines {
    private final Terminal terminal;
    private final LineReader reader;
    private final boolean coloured;
    private volatile boolean interrupted;

    /**
     * @param history file of earlier lines; empty: none is kept
     * @param commands that Tab completes
     */
    public TerminalLines(Optional<Path> history, Iterable<String> commands, boolean coloured) {
        this.coloured = coloured;
        try {
            terminal = TerminalBuilder.builder()
                    .system(true)
                    .encoding(StandardCharsets.UTF_8)
                    .nativeSignals(true)
                    .build();
        } catch (IOException e) {
            throw Failure.of("the terminal cannot be used: " + IoReason.of(e), e);
        }
        terminal.handle(Terminal.Signal.INT, _ -> interrupted = true);
        LineReaderBuilder builder = LineReaderBuilder.builder()
                .terminal(terminal)
                .appName("transformers")
                .completer(new StringsCompleter(commands))
                .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                .option(LineReader.Option.BRACKETED_PASTE, true);
        history.ifPresent(file -> builder.variable(LineReader.HISTORY_FILE, file));
        reader = builder.build();
    }

    @Override
    public Optional<String> next(String prompt) throws LineCancelledException {
        try {
            String line = reader.readLine(
                    coloured
                            ? new AttributedStringBuilder()
                                    .styled(AttributedStyle.BOLD.foreground(AttributedStyle.CYAN), prompt)
                                    .toAnsi(terminal)
                            : prompt);
            return Optional.of(line);
        } catch (EndOfFileException e) {
            return Optional.empty();
        } catch (UserInterruptException e) {
            throw new LineCancelledException();
        } finally {
            interrupted = false;
        }
    }

    @Override
    public boolean interrupted() {
        return interrupted;
    }

    @Override
    public boolean endsOnInterrupt() {
        return false;
    }

    @Override
    public void close() {
        try {
            terminal.close();
        } catch (IOException _) {
            // It is as it was found, or gone.
        }
    }
}
