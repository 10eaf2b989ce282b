package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Interprets a program with {@link HostOps}. Every Op is bound to its arrays once, per layer, so that a token costs neither
 * look-ups nor allocation. Long inputs run in chunks of rows; chunking does not change a bit.
 */
public final class HostForwardPass implements ForwardPass {
    /** Rows of a chunk unless memory for scores says less: enough to reuse each loaded weight many times. */
    public static final int DEFAULT_CHUNK_ROWS = 128;

    private static final long MAX_SCORES = 1L << 24;
    private static final long MAX_CHUNK_LOGITS = 1L << 24;

    private final Program program;
    private final Weights weights;
    private final HostOps ops;
    private final int chunkRows;
    private final Map<Buffer, Activations> buffers = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();
    private TraceListener listener = TraceListener.NONE;

    /** @param ops closed together with this forward pass */
    public HostForwardPass(Program program, Weights weights, HostOps ops) {
        this(program, weights, ops, defaultChunkRows(program));
    }

    /** @param chunkRows at most how many tokens run at once, 1 or more */
    public HostForwardPass(Program program, Weights weights, HostOps ops, int chunkRows) {
        this.program = program;
        this.weights = weights;
        this.ops = ops;
        this.chunkRows = Math.min(chunkRows, program.contextLength());
        for (Buffer buffer : program.buffers()) {
            int rows = buffer.extent() == Buffer.Extent.ALL_ROWS ? this.chunkRows : 1;
            buffers.put(buffer, new Activations(buffer.width(), rows));
        }
        bind(program.embedding(), 0, TraceListener.NO_LAYER, OpRows::new);
        for (int layer = 0; layer < program.layers(); layer++) {
            float[] keys = new float[Math.toIntExact(program.attention().cacheLayerSize())];
            float[] values = new float[keys.length];
            bind(program.blocks().get(layer).ops(), layer, layer, () -> new OpRows(keys, values));
        }
        bind(program.head(), 0, TraceListener.NO_LAYER, OpRows::new);
    }

    private static int defaultChunkRows(Program program) {
        long affordable = MAX_SCORES / program.attention().scoresWidth();
        return Math.clamp(affordable, 1, DEFAULT_CHUNK_ROWS);
    }

    @Override
    public Program program() {
        return program;
    }

    @Override
    public void trace(TraceListener listener) {
        this.listener = listener;
    }

    @Override
    public float[] forward(int[] tokens, int firstPosition) {
        requireFitting(tokens, firstPosition);
        for (int start = 0; start < tokens.length; start += chunkRows) {
            int rows = Math.min(chunkRows, tokens.length - start);
            boolean last = start + rows == tokens.length;
            run(tokens, start, rows, firstPosition, last ? 1 : 0);
        }
        return activations(program.logits()).data;
    }

    @Override
    public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
        requireFitting(tokens, firstPosition);
        int chunk = Math.clamp(MAX_CHUNK_LOGITS / program.vocabSize(), 1, chunkRows);
        for (int start = 0; start < tokens.length; start += chunk) {
            int rows = Math.min(chunk, tokens.length - start);
            run(tokens, start, rows, firstPosition, rows);
            for (int r = 0; r < rows; r++) {
                sink.accept(firstPosition + start + r, activations(program.logits()).data, r * program.vocabSize());
            }
        }
    }

    @Override
    public void close() {
        ops.close();
    }

    private void requireFitting(int[] tokens, int firstPosition) {
        if (tokens.length == 0) {
            throw new IllegalArgumentException("a forward pass needs at least one token");
        }
        if (firstPosition < 0 || firstPosition > program.contextLength() - tokens.length) {
            throw new IllegalArgumentException("positions " + firstPosition + " to "
                    + ((long) firstPosition + tokens.length - 1) + " do not fit a context of "
                    + program.contextLength());
        }
        for (int token : tokens) {
            if (token < 0 || token >= program.vocabSize()) {
                throw new IllegalArgumentException(
                        "token id " + token + " is not in the vocabulary of " + program.vocabSize());
            }
        }
    }

    /** One chunk; {@code logitRows} of its last rows go through the head, which is skipped when there is none. */
    @SuppressWarnings("ReferenceEquality")
    private void run(int[] tokens, int start, int rows, int firstPosition, int logitRows) {
        int[] chunk = tokens.length == rows ? tokens : Arrays.copyOfRange(tokens, start, start + rows);
        int position = firstPosition + start;
        for (Step step : steps) {
            int stepRows = step.op.output().extent() == Buffer.Extent.ALL_ROWS ? rows : logitRows;
            if (stepRows == 0) {
                continue;
            }
            step.output.ensureRows(stepRows);
            step.at.use(step.input.data, step.output.data).at(chunk, position, rows, stepRows);
            step.loop.run(ops, step.at);
            if (listener != TraceListener.NONE) {
                int first = position + rows - stepRows;
                listener.opFinished(step.layer, step.op, first, stepRows, step.output.data);
            }
        }
    }

    private Activations activations(Buffer buffer) {
        return buffers.get(buffer);
    }

    private void bind(List<Op> ops, int layer, int traceLayer, Supplier<OpRows> rows) {
        OpWeights layerWeights = OpWeights.of(weights, layer);
        for (Op op : ops) {
            Activations output = activations(op.output());
            Activations input = op.reads().map(this::activations).orElse(output);
            steps.add(new Step(op, traceLayer, input, output, OpLoop.of(op, layerWeights), rows.get()));
        }
    }

    /** An Op of a layer, bound to its arrays. */
    private record Step(Op op, int layer, Activations input, Activations output, OpLoop loop, OpRows at) {}

    /** The elements of a {@link Buffer}. */
    private static final class Activations {
        private final int width;
        private float[] data;

        Activations(int width, int rows) {
            this.width = width;
            this.data = new float[Math.multiplyExact(width, rows)];
        }

        /** Grows to hold {@code rows}; what it held is lost, as every Op that writes logit rows writes all of them. */
        void ensureRows(int rows) {
            int size = Math.multiplyExact(width, rows);
            if (data.length < size) {
                data = new float[size];
            }
        }
    }
}
