package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.kernels.CacheKernels;
import io.github.tornadotransformers.kernels.LikeliestKernels;
import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.BatchPiece;
import io.github.tornadotransformers.models.batching.CacheUse;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.LogitsSink;
import io.github.tornadotransformers.models.batching.PageMemory;
import io.github.tornadotransformers.models.batching.PagedCache;
import io.github.tornadotransformers.models.batching.PagedCaches;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.Candidates;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.CacheKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * A program on a TornadoVM device, which runs any number of sequences together. Weights, pages of caches and activations live
 * there; of each token its id, position and page table go to the device, and wanted logits come back. Kernels compile when they
 * first run: for one token with the first, and for more at once when there are enough of them.
 */
public final class TornadoEngine implements Engine {
    /** So few tokens that they are less than this part of the rows do not pay for compiling the kernels for many. */
    private static final int WORTH_COMPILING = 4;

    private static final long MAX_PIECE_LOGITS = 1L << 24;

    private final Program program;
    private final DeviceModel model;
    private final DeviceOptions options;
    private final ChainRows rows;
    private final Hooks hooks;
    private final DeviceArrays arrays;
    private final PagedCaches caches;
    private final float[] logits;
    private float[] manyLogits = {};
    private Optional<TraceListener> listener = Optional.empty();
    private GraphSet graphs;
    private DevicePlan plan;

    /** Chains that are compiled, or will be at once. */
    private final Set<GraphChain> ready = new HashSet<>();

    private boolean headsReady;

    private boolean released;

    /**
     * What tests change.
     *
     * @param kept which transfers are made
     */
    record Hooks(BiPredicate<DeviceGraph, DeviceTransfer> kept, FreedPages freed) {
        static final Hooks NONE = new Hooks((_, _) -> true, FreedPages.NONE);
    }

    private TornadoEngine(ForwardMemory memory, Hooks hooks) {
        this.model = memory.model();
        this.program = model.program();
        this.options = memory.options();
        this.rows = memory.rows();
        this.hooks = hooks;
        memory.requireFits();
        this.arrays = new DeviceArrays(memory.plan());
        this.caches = new PagedCaches(program, model.pages(), new Pages());
        this.logits = new float[program.vocabSize()];
    }

    /**
     * Brings the weights into memory that TornadoVM can copy to the device.
     *
     * @param dtype of the matrices, as {@code weights} will deliver them
     * @param cacheBytes memory for the pages of all caches; there is at least one page
     * @throws DeviceException if the device lacks memory or double, or the process runs with settings that rule out the mode
     */
    public static TornadoEngine open(
            Program program, DType dtype, WeightSource weights, DeviceOptions options, long cacheBytes) {
        return open(program, dtype, weights, options, cacheBytes, Hooks.NONE);
    }

    static TornadoEngine open(
            Program program, DType dtype, WeightSource weights, DeviceOptions options, long cacheBytes, Hooks hooks) {
        return open(
                ForwardMemory.ofBatches(program, MatrixTypes.of(program, dtype, weights), options, cacheBytes),
                weights,
                hooks);
    }

    /** For one sequence of the program's context at a time: with fewer graphs. */
    static TornadoEngine openForOne(
            Program program, DType dtype, WeightSource weights, DeviceOptions options, Hooks hooks) {
        return open(ForwardMemory.ofOne(program, MatrixTypes.of(program, dtype, weights), options), weights, hooks);
    }

    private static TornadoEngine open(ForwardMemory memory, WeightSource weights, Hooks hooks) {
        RuntimeSettings.install(memory.options().math());
        RuntimeSettings.requireInEffect(memory.options().math());
        TornadoEngine engine = new TornadoEngine(memory, hooks);
        try {
            engine.arrays.load(weights);
        } catch (RuntimeException | Error e) {
            engine.arrays.close();
            throw e;
        }
        return engine;
    }

    /**
     * Memory for caches that is left on the device beside everything else.
     *
     * @throws DeviceException as {@link #open(Program, DType, WeightSource, DeviceOptions, long)} does
     */
    public static long affordableCacheBytes(Program program, DType dtype, WeightSource weights, DeviceOptions options) {
        return ForwardMemory.ofBatches(program, MatrixTypes.of(program, dtype, weights), options, 1)
                .affordableCacheBytes();
    }

    /** What keys and values of a sequence of so many positions take: whole pages. */
    public static long cacheBytes(Program program, KvType type, int positions) {
        return ForwardMemory.pageBytes(program, type, AttentionShape.pages(positions));
    }

    @Override
    public Program program() {
        return program;
    }

    public DeviceInfo device() {
        return options.device();
    }

    /** Nanoseconds spent on compiling kernels so far. */
    public long jitNanos() {
        return plan == null ? 0 : plan.report().nanos();
    }

    /** Kernels compiled for the device so far; each is known to have run there. */
    public int kernelsCompiled() {
        return plan == null ? 0 : plan.report().kernels();
    }

    @Override
    public void trace(TraceListener wanted) {
        Optional<TraceListener> traced = Optional.of(wanted).filter(each -> !each.equals(TraceListener.NONE));
        if (plan != null && traced.isPresent() != listener.isPresent()) {
            throw new IllegalStateException("a device can be traced from the first token on, or not at all");
        }
        listener = traced;
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
    public void run(Batch batch, LogitsSink sink) {
        caches.admit(batch);
        boolean isFirst = plan == null;
        if (isFirst) {
            build();
        }
        int tokens =
                batch.spans().stream().mapToInt(span -> span.tokens().length).sum();
        int most = rowsAtOnce(isFirst ? tokens - 1 : tokens, batch.spans().size());
        int mostLogits = Math.clamp(MAX_PIECE_LOGITS / program.vocabSize(), 1, most);
        for (BatchPiece piece : BatchPiece.cut(batch, isFirst ? 1 : most, most, mostLogits)) {
            List<Optional<Candidates>> found = new ArrayList<>();
            float[] wanted = run(piece, found);
            piece.finish();
            piece.hand(sink, wanted, program.vocabSize(), found);
        }
    }

    private void build() {
        graphs = new GraphSet(model, options.graph(), rows, listener.isPresent());
        plan = new DevicePlan(graphs.graphs(), arrays, options.device(), hooks.kept());
        plan.tell(options.compiling());
        ready.add(graphs.decode());
    }

    /**
     * How many of these tokens run at once: what a chain takes that is compiled, or is worth compiling, as they are a good part of
     * its rows. The chain for several is for sequences that decode together, which will come again.
     */
    private int rowsAtOnce(int tokens, int sequences) {
        int most = 1;
        for (GraphChain chain : graphs.chains()) {
            boolean isMeant = chain.stage() != Stage.SEVERAL || sequences > 1;
            if (isMeant && chain.rows() > 1 && tokens > 1 && tokens >= chain.rows() / WORTH_COMPILING) {
                ready.add(chain);
            }
            most = ready.contains(chain) ? chain.rows() : most;
        }
        return most;
    }

    /** Whether so many tokens of a sequence will run several at once; they do from now on. */
    boolean makeReadyFor(int tokens) {
        return rowsAtOnce(tokens, 1) > 1;
    }

    /**
     * @param found gets, for each wanted row, the candidates that serve instead of its logits, if they do
     * @return the wanted logits, row by row; those of other rows are undefined
     */
    private float[] run(BatchPiece piece, List<Optional<Candidates>> found) {
        GraphChain chain = graphs.chains().stream()
                .filter(each -> ready.contains(each) && each.rows() >= piece.rows())
                .findFirst()
                .orElseThrow();
        int firstPosition = piece.parts().getFirst().firstPosition();
        tell(chain, piece);
        execute(chain.before(), TraceListener.NO_LAYER, firstPosition, piece.rowsOfFirst());
        for (LayerGraphs layer : chain.layers()) {
            arrays.get(ControlKeys.LAYER).set(0, layer.index());
            execute(layer.graphs(), layer.layer(), firstPosition, piece.rowsOfFirst());
        }
        return runHead(chain, piece, found);
    }

    /** Says which tokens run, where in their texts they stand, and which pages their sequences have. */
    private void tell(GraphChain chain, BatchPiece piece) {
        IntArray ids = arrays.get(ControlKeys.TOKENS);
        int[] tokens = piece.tokens();
        for (int row = 0; row < tokens.length; row++) {
            ids.set(row, tokens[row]);
        }
        IntArray step = arrays.get(ControlKeys.step(chain.stage()));
        step.set(Step.ROWS, tokens.length);
        int table = Step.firstTable(chain.rows());
        for (BatchPiece.Part part : piece.parts()) {
            for (int row = 0; row < part.rows(); row++) {
                step.set(Step.position(part.firstRow() + row), part.firstPosition() + row);
                step.set(Step.table(part.firstRow() + row), table);
            }
            PagedCache cache = part.cache();
            for (int page = 0; page < cache.pages(); page++) {
                step.set(table + page, cache.page(page));
            }
            table += cache.pages();
        }
        if (chain.rows() == 1) {
            select(Stage.HEAD, new int[1], piece.selected().length == 0 ? new int[1] : candidates(piece), 0, 1);
        }
    }

    /** How many of the likeliest tokens the device finds of each row whose logits are wanted; 0: logits are fetched. */
    private int[] candidates(BatchPiece piece) {
        int most = graphs.findsLikeliest() ? Math.min(LikeliestKernels.MOST, program.vocabSize()) : 0;
        return Arrays.stream(piece.candidates())
                .map(wanted -> wanted <= most ? wanted : 0)
                .toArray();
    }

    /** Says which rows the head takes, and how many candidates of each it finds: one where none serve. */
    private void select(Stage head, int[] selected, int[] candidates, int first, int count) {
        IntArray step = arrays.get(ControlKeys.step(head));
        step.set(Step.ROWS, count);
        for (int row = 0; row < count; row++) {
            step.set(Step.selected(row), selected[first + row]);
            step.set(Step.candidates(row), Math.max(1, candidates[first + row]));
        }
    }

    private float[] runHead(GraphChain chain, BatchPiece piece, List<Optional<Candidates>> found) {
        int[] selected = piece.selected();
        int[] candidates = candidates(piece);
        if (selected.length == 0) {
            if (chain.stage() == Stage.DECODE && graphs.headFollowsDecode()) {
                execute(chain.head(), TraceListener.NO_LAYER, 0, 0);
            }
            return logits;
        }
        float[] wanted = wanted(selected.length);
        headsReady |= !chain.heads().isEmpty() && selected.length >= Math.max(2, rows.heads() / WORTH_COMPILING);
        boolean together = !chain.heads().isEmpty() && headsReady && selected.length > 1;
        Stage stage = together ? Stage.HEADS : Stage.HEAD;
        int step = together ? rows.heads() : 1;
        for (int first = 0; first < selected.length; first += step) {
            int count = Math.min(step, selected.length - first);
            select(stage, selected, candidates, first, count);
            int position = piece.position(selected[first]);
            int traced = Math.clamp(piece.selectedOfFirst() - first, 0, count);
            execute(together ? chain.heads() : chain.head(), TraceListener.NO_LAYER, position, traced);
            for (int row = 0; row < count; row++) {
                found.add(found(stage, row, candidates[first + row]));
            }
            if (found.subList(first, first + count).stream().anyMatch(Optional::isEmpty)) {
                copyLogits(stage, wanted, first, count);
            }
        }
        if (!released) {
            // Every graph that brings weights to the device has run.
            graphs.check().ifPresent(check -> {
                plan.execute(check.graph());
                check.require(arrays, options.device());
            });
            arrays.releaseWeights();
            released = true;
        }
        return wanted;
    }

    /** None where logits are wanted, or say what is wrong with them. */
    private Optional<Candidates> found(Stage head, int row, int count) {
        if (count == 0) {
            return Optional.empty();
        }
        FloatArray likeliest = arrays.get(ControlKeys.likeliest(head));
        int[] ids = new int[count];
        float[] largest = new float[count];
        for (int rank = 0; rank < count; rank++) {
            ids[rank] = (int) likeliest.get(LikeliestKernels.index(row, rank));
            largest[rank] = likeliest.get(LikeliestKernels.logit(row, rank));
        }
        return ids[0] == LikeliestKernels.NOT_FINITE ? Optional.empty() : Optional.of(new Candidates(ids, largest));
    }

    private float[] wanted(int count) {
        if (count == 1) {
            return logits;
        }
        int size = Math.multiplyExact(count, program.vocabSize());
        manyLogits = manyLogits.length < size ? new float[size] : manyLogits;
        return manyLogits;
    }

    private void copyLogits(Stage head, float[] to, int first, int count) {
        if (graphs.findsLikeliest()) {
            plan.fetch(graphs.logits(head));
        }
        FloatArray from = arrays.get(graphs.logits(head));
        int width = program.vocabSize();
        MemorySegment.copy(from.getSegment(), ValueLayout.JAVA_FLOAT, 0, to, first * width, count * width);
    }

    /** @param count rows of the batch's first span, which are shown */
    private void execute(List<DeviceGraph> chain, int layer, int firstPosition, int count) {
        for (DeviceGraph each : chain) {
            plan.execute(each);
            if (count > 0) {
                each.traced().ifPresent(traced -> report(traced, layer, firstPosition, count));
            }
        }
    }

    private void report(DeviceGraph.TracedOutput traced, int layer, int firstPosition, int count) {
        plan.fetch(traced.array());
        int width = traced.op().output().width();
        float[] output = new float[count * width];
        MemorySegment from = arrays.get(traced.array()).getSegment();
        MemorySegment.copy(from, ValueLayout.JAVA_FLOAT, 0, output, 0, output.length);
        listener.orElseThrow().opFinished(layer, traced.op(), firstPosition, count, output);
    }

    /** The pages on the device. */
    private final class Pages implements PageMemory {
        @Override
        public void freed(int page) {
            int size = Math.toIntExact(program.attention().cacheLayerSize(1));
            for (int layer = 0; layer < program.layers(); layer++) {
                int first = (model.groups().indexOf(layer) * model.pages() + page) * size;
                for (CacheKey.Part part : CacheKey.Part.values()) {
                    ArrayKey<?> key =
                            model.cache(part, model.groups().of(layer)).key();
                    hooks.freed().freed(arrays.get(key), first, size);
                }
            }
        }

        @Override
        public void copy(int from, int to) {
            IntArray pages = arrays.get(ControlKeys.COPY);
            pages.set(CacheKernels.COPY_FROM, from);
            pages.set(CacheKernels.COPY_TO, to);
            plan.execute(graphs.copy().orElseThrow());
        }
    }

    @Override
    public void close() {
        Optional.ofNullable(plan).ifPresent(DevicePlan::close);
        arrays.close();
    }
}
