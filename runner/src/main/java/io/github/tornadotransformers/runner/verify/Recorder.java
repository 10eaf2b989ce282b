package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;

/** Listens to a forward pass from its first token on, since a device is traced always or never, and hands out each step. */
final class Recorder implements TraceListener {
    private final ForwardPass forward;
    private final boolean everyOp;
    private StepTrace current;
    private long nanos;

    /** @param everyOp whether to keep every Op's output, or only the points that a trace shows by default */
    Recorder(ForwardPass forward, boolean everyOp) {
        this.forward = forward;
        this.everyOp = everyOp;
        this.current = new StepTrace(forward.program(), everyOp);
        forward.trace(this);
    }

    Program program() {
        return forward.program();
    }

    /** One forward pass, recorded anew; returns the last token's logits. */
    float[] forward(int[] tokens, int firstPosition) {
        current = new StepTrace(forward.program(), everyOp);
        long started = System.nanoTime();
        float[] logits = forward.forward(tokens, firstPosition);
        nanos += System.nanoTime() - started;
        return logits;
    }

    /** What the last forward pass has shown. */
    StepTrace step() {
        return current;
    }

    /** What all forward passes have taken, tracing included. */
    long nanos() {
        return nanos;
    }

    @Override
    public void opFinished(int layer, Op op, int firstPosition, int rows, float[] output) {
        current.opFinished(layer, op, firstPosition, rows, output);
    }
}
