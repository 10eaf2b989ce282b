package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.runner.console.Progress;
import io.github.tornadotransformers.runner.console.StatusLine;

/** Shows how much of a prompt has been run, until all of it has. */
final class WatchedForwardPass implements ForwardPass {
    private final ForwardPass forward;
    private final int promptTokens;
    private final Progress progress;
    private final Runnable read;
    private boolean isRead;

    /** @param read is run once, when the prompt has been */
    WatchedForwardPass(ForwardPass forward, int promptTokens, StatusLine status, Runnable read) {
        this.forward = forward;
        this.promptTokens = promptTokens;
        this.read = read;
        progress = Progress.of(status, "reading the prompt", Progress.Unit.TOKENS, promptTokens);
    }

    @Override
    public Program program() {
        return forward.program();
    }

    @Override
    public float[] forward(int[] tokens, int firstPosition) {
        float[] logits = forward.forward(tokens, firstPosition);
        int done = firstPosition + tokens.length;
        progress.update(done);
        if (!isRead && done >= promptTokens) {
            isRead = true;
            progress.close();
            read.run();
        }
        return logits;
    }

    @Override
    public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
        forward.forwardAll(tokens, firstPosition, sink);
    }

    @Override
    public void trace(TraceListener listener) {
        forward.trace(listener);
    }

    /** Ends the watching alone: the forward pass is someone else's. */
    @Override
    public void close() {
        progress.close();
    }
}
