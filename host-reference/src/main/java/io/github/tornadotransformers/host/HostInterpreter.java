package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.BatchPiece;
import io.github.tornadotransformers.models.batching.CacheUse;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.LogitsSink;
import io.github.tornadotransformers.models.batching.PagedCaches;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
    private final KvMemory memory;
    private final PagedCaches caches;
    private final int chunkRows;
    private final Map<Buffer, Activations> buffers = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();
    private final OpRows at = new OpRows();
    private TraceListener listener = TraceListener.NONE;

    /**
     * @param ops closed together with this interpreter
     * @param kvType of keys and values
     * @param cacheBytes memory for the pages of all caches; there is at least one page
     */
    public HostInterpreter(Program program, Weights weights, HostOps ops, KvType kvType, long cacheBytes) {
        this(program, weights, ops, kvType, cacheBytes, defaultChunkRows(program));
    }

    /** @param chunkRows at most how many tokens run at once, 1 or more */
    public HostInterpreter(
            Program program, Weights weights, HostOps ops, KvType kvType, long cacheBytes, int chunkRows) {
        this.program = program;
        this.weights = weights;
        this.ops = ops;
        this.memory = new KvMemory(program, kvType);
        int pages = Math.clamp(cacheBytes / cacheBytes(program, kvType, 1), 1, Integer.MAX_VALUE);
        this.caches = new PagedCaches(program, pages, memory);
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
    public static long cacheBytes(Program program, KvType type, int positions) {
        long page =
                2L * type.bytes() * AttentionShape.PAGE * program.attention().keyValueWidth();
        return Math.multiplyExact(Math.multiplyExact(page, program.layers()), AttentionShape.pages(positions));
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
    public KvCache open(int positions) {
        return caches.open(positions);
    }

    @Override
    public boolean canHold(int positions) {
        return caches.canHold(positions);
    }

    @Override
    public CacheUse cacheUse() {
        return caches.use();
    }

    @Override
    public void saveKept(Path file, String key) throws IOException {
        caches.saveKept(file, key);
    }

    @Override
    public Optional<String> loadKept(Path file, String key) {
        return caches.loadKept(file, key);
    }

    @Override
    public void run(Batch batch, LogitsSink sink) {
        caches.admit(batch);
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

    /** The head is skipped where nobody wants logits. */
    @SuppressWarnings("ReferenceEquality")
    private void run(BatchPiece piece) {
        int[] tokens = piece.tokens();
        int[] selected = piece.selected();
        BatchRows batch = rows(piece, 0);
        int current = 0;
        for (Step step : steps) {
            if (step.layer > current) {
                current = step.layer;
                batch = rows(piece, current);
            }
            boolean isOfAll = step.op.output().extent() == Buffer.Extent.ALL_ROWS;
            int rows = isOfAll ? tokens.length : selected.length;
            if (rows == 0) {
                continue;
            }
            step.output.ensureRows(rows);
            at.use(step.input.data, step.output.data).at(tokens, batch, selected, rows);
            step.loop.run(ops, at);
            int traced = isOfAll ? piece.rowsOfFirst() : piece.selectedOfFirst();
            if (listener != TraceListener.NONE && traced > 0) {
                int first = batch.position(isOfAll ? 0 : selected[0]);
                listener.opFinished(step.layer, step.op, first, traced, step.output.data);
            }
        }
    }

    /** The rows of a piece, whose caches are those of the layer. */
    private BatchRows rows(BatchPiece piece, int layer) {
        return BatchRows.of(piece.parts().stream()
                .map(part -> new BatchRows.Span(
                        part.firstRow(), part.rows(), part.firstPosition(), memory.layer(part.cache(), layer)))
                .toList());
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
