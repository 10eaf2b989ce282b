package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.Span;
import io.github.tornadotransformers.models.batching.Wanted;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Program;

/** One sequence on the host: batches of one span on a {@link HostInterpreter}. */
public final class HostForwardPass implements ForwardPass {
    private final HostInterpreter interpreter;
    private KvCache cache;
    private float[] logits = {};

    /** @param ops closed together with this forward pass */
    public HostForwardPass(Program program, Weights weights, HostOps ops) {
        this(new HostInterpreter(program, weights, ops, KvType.F32, cacheBytes(program)));
    }

    /** @param chunkRows at most how many tokens run at once, 1 or more */
    public HostForwardPass(Program program, Weights weights, HostOps ops, int chunkRows) {
        this(new HostInterpreter(program, weights, ops, KvType.F32, cacheBytes(program), chunkRows));
    }

    /** @param interpreter closed together with this forward pass; others may run on it as well */
    public HostForwardPass(HostInterpreter interpreter) {
        this.interpreter = interpreter;
        cache = interpreter.open(interpreter.program().contextLength());
    }

    private static long cacheBytes(Program program) {
        return HostInterpreter.cacheBytes(program, KvType.F32, program.contextLength());
    }

    /** What it is a batch of one on. */
    public Engine engine() {
        return interpreter;
    }

    @Override
    public Program program() {
        return interpreter.program();
    }

    @Override
    public void trace(TraceListener listener) {
        interpreter.trace(listener);
    }

    @Override
    public void forget() {
        cache.close();
        cache = interpreter.open(interpreter.program().contextLength());
    }

    @Override
    public float[] forward(int[] tokens, int firstPosition) {
        Span span = new Span(cache, firstPosition, tokens, Wanted.LAST);
        interpreter.run(Batch.of(span), (_, _, last, _) -> logits = last);
        return logits;
    }

    @Override
    public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
        Span span = new Span(cache, firstPosition, tokens, Wanted.ALL);
        interpreter.run(Batch.of(span), (_, position, all, offset) -> sink.accept(position, all, offset));
    }

    @Override
    public void close() {
        interpreter.close();
    }
}
