package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.Span;
import io.github.tornadotransformers.models.batching.Wanted;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.Candidates;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import java.util.function.BiPredicate;

/** One sequence on a TornadoVM device: batches of one span on a {@link TornadoEngine}. */
public final class TornadoForwardPass implements ForwardPass {
    private final TornadoEngine engine;
    private KvCache cache;
    private float[] logits = {};

    /** @param engine closed together with this forward pass; others may run on it as well */
    public TornadoForwardPass(TornadoEngine engine) {
        this.engine = engine;
        this.cache = engine.open(engine.program().contextLength());
    }

    /**
     * Brings the weights into memory that TornadoVM can copy to the device.
     *
     * @param dtype of the matrices, as {@code weights} will deliver them
     * @throws DeviceException if the device lacks memory or double, or the process runs with settings that rule out the mode
     */
    public static TornadoForwardPass open(Program program, DType dtype, WeightSource weights, DeviceOptions options) {
        return open(program, dtype, weights, options, (_, _) -> true);
    }

    static TornadoForwardPass open(
            Program program,
            DType dtype,
            WeightSource weights,
            DeviceOptions options,
            BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        TornadoEngine.Hooks hooks = new TornadoEngine.Hooks(kept, FreedPages.NONE);
        return new TornadoForwardPass(TornadoEngine.openForOne(program, dtype, weights, options, hooks));
    }

    @Override
    public Program program() {
        return engine.program();
    }

    public DeviceInfo device() {
        return engine.device();
    }

    /** Nanoseconds spent on compiling kernels so far. */
    public long jitNanos() {
        return engine.jitNanos();
    }

    /** Kernels compiled for the device so far; each is known to have run there. */
    public int kernelsCompiled() {
        return engine.kernelsCompiled();
    }

    /**
     * Compiles the kernels that a prompt of that length and the tokens after it need, by running a token or two whose cache
     * entries the prompt overwrites. Without this, they compile with the first tokens.
     */
    public void prepare(int promptLength) {
        forward(new int[] {0}, 0);
        if (engine.makeReadyFor(promptLength - 1)) {
            forward(new int[2], 0);
        }
    }

    @Override
    public void forget() {
        cache.close();
        cache = engine.open(engine.program().contextLength());
    }

    /** @throws IllegalStateException if a token has run already: tracing takes graphs of its own */
    @Override
    public void trace(TraceListener listener) {
        engine.trace(listener);
    }

    @Override
    public float[] forward(int[] tokens, int firstPosition) {
        Span span = new Span(cache, firstPosition, tokens, Wanted.LAST);
        engine.run(Batch.of(span), (_, _, last, _) -> logits = last);
        return logits;
    }

    @Override
    public void forward(int[] tokens, int firstPosition, int candidates, LogitsSink sink) {
        Span span = new Span(cache, firstPosition, tokens, Wanted.LAST, candidates);
        engine.run(Batch.of(span), new LastToken(sink));
    }

    @Override
    public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
        Span span = new Span(cache, firstPosition, tokens, Wanted.ALL);
        engine.run(Batch.of(span), (_, position, all, offset) -> sink.accept(position, all, offset));
    }

    /** Hands on what there is of the only token. */
    private record LastToken(LogitsSink sink) implements io.github.tornadotransformers.models.batching.LogitsSink {
        @Override
        public void accept(int span, int position, float[] logits, int offset) {
            sink.accept(position, logits, offset);
        }

        @Override
        public void acceptCandidates(int span, int position, Candidates found) {
            sink.acceptCandidates(position, found);
        }
    }

    @Override
    public void close() {
        engine.close();
    }
}
