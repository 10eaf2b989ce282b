package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.CacheFullException;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.LogitsSink;
import io.github.tornadotransformers.models.batching.Span;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Interprets a program with {@link HostOps}: the rows of all spans together, attention span by span. Every Op is bound to its
 * weights once, so that a token costs no look-ups. Large batches run in pieces; that does not change a bit.
 */
public final class HostInterpreter implements Engine {
    /** Rows of a piece unless memory for scores says less: enough to reuse each loaded weight many times. */
    public static final int DEFAULT_CHUNK_ROWS = 128;

    private static final long MAX_SCORES = 1L << 24;
    private static final long MAX_CHUNK_LOGITS = 1L << 24;

    private final Program program;
    private final Weights weights;
    private final HostOps ops;
    private final PagePool pool;
    private final int chunkRows;
    private final Map<Buffer, Activations> buffers = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();
    private final OpRows at = new OpRows();
    private TraceListener listener = TraceListener.NONE;

    /**
     * @param ops closed together with this interpreter
     * @param cacheBytes memory for the pages of all caches; there is at least one page
     */
    public HostInterpreter(Program program, Weights weights, HostOps ops, long cacheBytes) {
        this(program, weights, ops, cacheBytes, defaultChunkRows(program));
    }

    /** @param chunkRows at most how many tokens run at once, 1 or more */
    public HostInterpreter(Program program, Weights weights, HostOps ops, long cacheBytes, int chunkRows) {
        this.program = program;
        this.weights = weights;
        this.ops = ops;
        this.pool = new PagePool(program, Math.clamp(cacheBytes / cacheBytes(program, 1), 1, Integer.MAX_VALUE));
        this.chunkRows = chunkRows;
        for (Buffer buffer : program.buffers()) {
            buffers.put(buffer, new Activations(buffer.width()));
        }
        bind(program.embedding(), 0, TraceListener.NO_LAYER);
        for (int layer = 0; layer < program.layers(); layer++) {
            bind(program.blocks().get(layer).ops(), layer, layer);
        }
        bind(program.head(), 0, TraceListener.NO_LAYER);
    }

    /** What keys and values of a sequence of so many positions take: whole pages. */
    public static long cacheBytes(Program program, int positions) {
        long page = 2L * Float.BYTES * KvLayer.PAGE * program.attention().keyValueWidth();
        return Math.multiplyExact(Math.multiplyExact(page, program.layers()), PagedCache.pagesFor(positions));
    }

    private static int defaultChunkRows(Program program) {
        long affordable = MAX_SCORES / program.attention().scoresWidth();
        return Math.clamp(affordable, 1, DEFAULT_CHUNK_ROWS);
    }

    @Override
    public Program program() {
        return program;
    }

    /** Shows every Op's result to {@code listener} from now on; positions are those of the first span. */
    public void trace(TraceListener listener) {
        this.listener = listener;
    }

    @Override
    public KvCache open(int positions) {
        if (positions < 1 || positions > program.contextLength()) {
            throw new IllegalArgumentException(
                    "a cache of " + positions + " positions, expected 1 to " + program.contextLength());
        }
        return new PagedCache(pool, program.attention(), positions);
    }

    @Override
    public boolean canHold(int positions) {
        return PagedCache.pagesFor(positions) <= pool.size();
    }

    @Override
    public void run(Batch batch, LogitsSink sink) {
        requireFitting(batch);
        reserve(batch);
        int maxLogitRows = Math.clamp(MAX_CHUNK_LOGITS / program.vocabSize(), 1, chunkRows);
        for (BatchPiece piece : BatchPiece.cut(batch, chunkRows, maxLogitRows)) {
            run(piece);
            piece.finish();
            piece.hand(sink, activations(program.logits()).data, program.vocabSize());
        }
    }

    @Override
    public void close() {
        ops.close();
    }

    private void requireFitting(Batch batch) {
        if (batch.spans().isEmpty()) {
            throw new IllegalArgumentException("a batch needs at least one span");
        }
        Set<KvCache> caches = new HashSet<>();
        for (Span span : batch.spans()) {
            requireFitting(span);
            if (!caches.add(span.cache())) {
                throw new IllegalArgumentException("two spans of a batch have the same cache");
            }
        }
    }

    private void requireFitting(Span span) {
        if (!(span.cache() instanceof PagedCache cache && cache.isOf(pool)) || cache.isClosed()) {
            throw new IllegalArgumentException("a span's cache is closed, or was opened by another engine");
        }
        int[] tokens = span.tokens();
        int first = span.firstPosition();
        if (tokens.length == 0) {
            throw new IllegalArgumentException("a span needs at least one token");
        }
        if (first < 0 || first > cache.positions() - tokens.length) {
            throw new IllegalArgumentException("positions " + first + " to " + ((long) first + tokens.length - 1)
                    + " do not fit a context of " + cache.positions());
        }
        if (first > cache.length()) {
            throw new IllegalArgumentException("position " + first + " follows on what was not run: the cache holds "
                    + cache.length() + " positions");
        }
        for (int token : tokens) {
            if (token < 0 || token >= program.vocabSize()) {
                throw new IllegalArgumentException(
                        "token id " + token + " is not in the vocabulary of " + program.vocabSize());
            }
        }
    }

    /** All caches get what they need, or none. */
    private void reserve(Batch batch) {
        int missing = 0;
        for (Span span : batch.spans()) {
            missing += ((PagedCache) span.cache()).missing(span.end());
        }
        if (missing > pool.free()) {
            throw new CacheFullException(missing, pool.free(), pool.size(), KvLayer.PAGE);
        }
        for (Span span : batch.spans()) {
            PagedCache cache = (PagedCache) span.cache();
            cache.reserve(span.end());
            cache.setLength(span.firstPosition());
        }
    }

    /** The head is skipped where nobody wants logits. */
    @SuppressWarnings("ReferenceEquality")
    private void run(BatchPiece piece) {
        int[] tokens = piece.tokens();
        int[] selected = piece.selected();
        BatchRows batch = piece.rows(0);
        int current = 0;
        for (Step step : steps) {
            if (step.layer > current) {
                current = step.layer;
                batch = piece.rows(current);
            }
            boolean isOfAll = step.op.output().extent() == Buffer.Extent.ALL_ROWS;
            int rows = isOfAll ? tokens.length : selected.length;
            if (rows == 0) {
                continue;
            }
            step.output.ensureRows(rows);
            at.use(step.input.data, step.output.data).at(tokens, batch, selected, rows);
            step.loop.run(ops, at);
            if (listener != TraceListener.NONE) {
                int first = batch.position(isOfAll ? 0 : selected[0]);
                listener.opFinished(step.layer, step.op, first, rows, step.output.data);
            }
        }
    }

    private Activations activations(Buffer buffer) {
        return buffers.get(buffer);
    }

    private void bind(List<Op> ops, int layer, int traceLayer) {
        OpWeights layerWeights = OpWeights.of(weights, layer);
        for (Op op : ops) {
            Activations output = activations(op.output());
            Activations input = op.reads().map(this::activations).orElse(output);
            steps.add(new Step(op, traceLayer, input, output, OpLoop.of(op, layerWeights)));
        }
    }

    /** An Op of a layer, bound to its arrays. */
    private record Step(Op op, int layer, Activations input, Activations output, OpLoop loop) {}

    /** The elements of a {@link Buffer}. */
    private static final class Activations {
        private final int width;
        private float[] data = {};

        Activations(int width) {
            this.width = width;
        }

        /** Grows to hold {@code rows}; what it held is lost, as the first Op that writes a buffer writes all its rows. */
        void ensureRows(int rows) {
            int size = Math.multiplyExact(width, rows);
            if (data.length < size) {
                data = new float[size];
            }
        }
    }
}
