package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
    private final Batch batch = new Batch();
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
        bindAll(program.embedding(), 0, TraceListener.NO_LAYER);
        for (int layer = 0; layer < program.layers(); layer++) {
            bindLayer(layer);
        }
        bindAll(program.head(), 0, TraceListener.NO_LAYER);
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
        batch.tokens = tokens.length == rows ? tokens : Arrays.copyOfRange(tokens, start, start + rows);
        batch.firstPosition = firstPosition + start;
        batch.rows = rows;
        batch.logitRows = logitRows;
        for (Step step : steps) {
            int stepRows = batch.rowsOf(step.op.output());
            if (stepRows == 0) {
                continue;
            }
            step.output.ensureRows(stepRows);
            step.loop.run();
            if (listener != TraceListener.NONE) {
                int first = batch.firstPosition + batch.rows - stepRows;
                listener.opFinished(step.layer, step.op, first, stepRows, step.output.data);
            }
        }
    }

    private Activations activations(Buffer buffer) {
        return buffers.get(buffer);
    }

    private void bindLayer(int layer) {
        float[] keys = new float[Math.toIntExact(program.attention().cacheLayerSize())];
        float[] values = new float[keys.length];
        for (Op op : program.block()) {
            steps.add(new Step(op, layer, activations(op.output()), bind(op, layer, keys, values)));
        }
    }

    private void bindAll(List<Op> ops, int weightLayer, int traceLayer) {
        float[] noCache = {};
        for (Op op : ops) {
            steps.add(new Step(op, traceLayer, activations(op.output()), bind(op, weightLayer, noCache, noCache)));
        }
    }

    private Runnable bind(Op op, int layer, float[] keys, float[] values) {
        Activations out = activations(op.output());
        return switch (op) {
            case Op.TokenEmbedding embedding -> {
                HostMatrix table = matrix(embedding.table(), layer);
                yield () -> ops.tokenEmbedding(table, batch.tokens, batch.rows, out.data);
            }
            case Op.PositionEmbedding embedding -> {
                float[] table = vector(embedding.table(), layer);
                yield () -> ops.positionEmbedding(table, batch.firstPosition, batch.rows, out.width, out.data);
            }
            case Op.LayerNorm norm -> {
                Activations in = activations(norm.input());
                float[] weight = vector(norm.weight(), layer);
                float[] bias = vector(norm.bias(), layer);
                yield () -> ops.layerNorm(
                        in.data, weight, bias, norm.epsilon(), batch.rowsOf(norm.output()), out.width, out.data);
            }
            case Op.RmsNorm norm -> {
                Activations in = activations(norm.input());
                float[] weight = vector(norm.weight(), layer);
                yield () ->
                        ops.rmsNorm(in.data, weight, norm.epsilon(), batch.rowsOf(norm.output()), out.width, out.data);
            }
            case Op.Linear linear -> {
                Activations in = activations(linear.input());
                HostMatrix weight = matrix(linear.weight(), layer);
                float[] bias = linear.bias().map(each -> vector(each, layer)).orElse(null);
                yield () -> ops.linear(
                        in.data,
                        weight,
                        bias,
                        linear.activation(),
                        linear.addsToOutput(),
                        batch.rowsOf(linear.output()),
                        out.data);
            }
            case Op.Rotary rotary ->
                () -> ops.rotary(rotary.shape(), rotary.table(), batch.firstPosition, batch.rows, out.data);
            case Op.CacheAppend append ->
                () -> ops.cacheAppend(append.shape(), out.data, batch.firstPosition, batch.rows, keys, values);
            case Op.AttentionScores scores -> {
                Activations qkv = activations(scores.qkv());
                yield () -> ops.attentionScores(
                        scores.shape(), scores.scale(), qkv.data, keys, batch.firstPosition, batch.rows, out.data);
            }
            case Op.Softmax softmax -> () -> ops.softmax(softmax.shape(), batch.firstPosition, batch.rows, out.data);
            case Op.AttentionOutput attention -> {
                Activations probabilities = activations(attention.probabilities());
                yield () -> ops.attentionOutput(
                        attention.shape(), probabilities.data, values, batch.firstPosition, batch.rows, out.data);
            }
            case Op.SwiGlu swiGlu -> {
                Activations gateUp = activations(swiGlu.gateUp());
                yield () -> ops.swiGlu(gateUp.data, batch.rows, out.width, out.data);
            }
            case Op.SelectRows select -> {
                Activations in = activations(select.input());
                yield () -> System.arraycopy(
                        in.data, (batch.rows - batch.logitRows) * out.width, out.data, 0, batch.logitRows * out.width);
            }
        };
    }

    private HostMatrix matrix(Weight weight, int layer) {
        return HostMatrix.of(weights.get(weight), layer);
    }

    private float[] vector(Weight weight, int layer) {
        WeightData data = weights.get(weight);
        return data.layer(layer).toArray(ValueLayout.JAVA_FLOAT);
    }

    /** An Op of a layer, bound to its arrays. */
    private record Step(Op op, int layer, Activations output, Runnable loop) {}

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

    /** The rows that are running. */
    private static final class Batch {
        private int[] tokens;
        private int firstPosition;
        private int rows;
        private int logitRows;

        int rowsOf(Buffer buffer) {
            return buffer.extent() == Buffer.Extent.ALL_ROWS ? rows : logitRows;
        }
    }
}
