package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.runner.console.Progress;
import io.github.tornadotransformers.runner.console.StatusLine;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Shows how much of a prompt has been run, until all of it has, and then the text. */
final class WatchedText implements GenerationListener, AutoCloseable {
    private final int promptTokens;
    private final Progress progress;
    private final Runnable read;
    private final Consumer<String> text;
    private final BooleanSupplier cancelled;

    /**
     * @param read is run once, when the prompt has been
     * @param text gets the text
     */
    WatchedText(int promptTokens, StatusLine status, Runnable read, Consumer<String> text, BooleanSupplier cancelled) {
        this.promptTokens = promptTokens;
        this.read = read;
        this.text = text;
        this.cancelled = cancelled;
        progress = Progress.of(status, "reading the prompt", Progress.Unit.TOKENS, promptTokens);
    }

    @Override
    public void promptRun(int tokens) {
        progress.update(tokens);
        if (tokens >= promptTokens) {
            progress.close();
            read.run();
        }
    }

    @Override
    public void text(String piece) {
        text.accept(piece);
    }

    @Override
    public boolean hearsChoices() {
        return false;
    }

    @Override
    public boolean isCancelled() {
        return cancelled.getAsBoolean();
    }

    @Override
    public void close() {
        progress.close();
    }
}
