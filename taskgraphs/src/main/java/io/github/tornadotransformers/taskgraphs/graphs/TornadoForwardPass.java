package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.kernels.LinearTileKernels;
import io.github.tornadotransformers.kernels.Step;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.WeightSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * A program on a TornadoVM device. Weights, cache and activations live there; for each token its id and position go to the
 * device, and its logits come back. Kernels compile when they first run: with the first token, and with the first prompt that
 * is long enough to run many tokens at once.
 */
public final class TornadoForwardPass implements ForwardPass {
    /** A prompt that is shorter than this part of the rows does not pay for compiling the kernels for many tokens. */
    private static final int WORTH_COMPILING = 4;

    /** Elements of the largest activations of many tokens. */
    private static final long MAX_ACTIVATION = 1L << 26;

    private final Program program;
    private final DeviceModel model;
    private final DeviceOptions options;
    private final BiPredicate<DeviceGraph, DeviceTransfer> kept;
    private final int rows;
    private final DeviceArrays arrays;
    private final float[] logits;
    private Optional<TraceListener> listener = Optional.empty();
    private GraphSet graphs;
    private DevicePlan plan;
    private boolean prefilled;
    private boolean released;

    private TornadoForwardPass(
            Program program, DType dtype, DeviceOptions options, BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        this.program = program;
        this.rows = prefillRows(program, options.prefillRows());
        this.options = options.withPrefillRows(rows);
        this.kept = kept;
        this.model = DeviceModel.of(program, dtype, options.math(), options.device());
        ForwardMemory memory = new ForwardMemory(model, this.options);
        memory.requireFits();
        this.arrays = new DeviceArrays(memory.plan());
        this.logits = new float[program.vocabSize()];
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
        RuntimeSettings.install(options.math());
        RuntimeSettings.requireInEffect(options.math());
        TornadoForwardPass forward = new TornadoForwardPass(program, dtype, options, kept);
        try {
            forward.arrays.load(weights);
        } catch (RuntimeException | Error e) {
            forward.arrays.close();
            throw e;
        }
        return forward;
    }

    private static int prefillRows(Program program, int wanted) {
        long widest = program.buffers().stream()
                .mapToLong(buffer -> buffer.equals(program.logits()) ? 1 : buffer.width())
                .max()
                .orElseThrow();
        long affordable = Math.min(Math.min(wanted, program.contextLength()), MAX_ACTIVATION / widest);
        return Math.toIntExact(Math.max(1, affordable / LinearTileKernels.TILE_ROWS * LinearTileKernels.TILE_ROWS));
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

    /**
     * Compiles the kernels that a prompt of that length and the tokens after it need, by running a token or two whose cache
     * entries the prompt overwrites. Without this, they compile with the first tokens.
     */
    public void prepare(int promptLength) {
        forward(new int[] {0}, 0);
        if (isWorthPrefilling(promptLength - 1)) {
            prefilled = true;
            forward(new int[2], 0);
        }
    }

    /** @throws IllegalStateException if a token has run already: tracing takes graphs of its own */
    @Override
    public void trace(TraceListener wanted) {
        Optional<TraceListener> traced = Optional.of(wanted).filter(each -> !each.equals(TraceListener.NONE));
        if (plan != null && traced.isPresent() != listener.isPresent()) {
            throw new IllegalStateException("a device can be traced from the first token on, or not at all");
        }
        listener = traced;
    }

    @Override
    public float[] forward(int[] tokens, int firstPosition) {
        requireFitting(tokens, firstPosition);
        for (int start = 0; start < tokens.length; ) {
            int count = run(tokens, start, firstPosition);
            start += count;
            if (start == tokens.length) {
                runHead(chain(count), firstPosition + start - 1, count - 1);
            }
        }
        releaseWeights();
        return logits;
    }

    @Override
    public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
        requireFitting(tokens, firstPosition);
        for (int start = 0; start < tokens.length; ) {
            int count = run(tokens, start, firstPosition);
            for (int row = 0; row < count; row++) {
                runHead(chain(count), firstPosition + start + row, row);
                sink.accept(firstPosition + start + row, logits, 0);
            }
            start += count;
        }
        releaseWeights();
    }

    /** After a whole pass every weight is on the device. */
    private void releaseWeights() {
        if (!released) {
            arrays.releaseWeights();
            released = true;
        }
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

    /** Runs the next tokens through embedding and blocks, and says how many. */
    private int run(int[] tokens, int start, int firstPosition) {
        boolean first = plan == null;
        if (first) {
            graphs = new GraphSet(model, options.graph(), rows, listener.isPresent());
            plan = new DevicePlan(graphs.graphs(), arrays, options.device(), kept);
            plan.tell(options.compiling());
        }
        int remaining = tokens.length - start;
        int count = !first && isWorthPrefilling(remaining) ? Math.min(rows, remaining) : 1;
        prefilled |= count > 1;
        int position = firstPosition + start;
        IntArray ids = arrays.get(ControlKeys.TOKENS);
        for (int row = 0; row < count; row++) {
            ids.set(row, tokens[start + row]);
        }
        setStep(ControlKeys.STEP, position, count, count - 1);
        setStep(ControlKeys.HEAD_STEP, position + count - 1, 1, count - 1);
        GraphChain chain = chain(count);
        execute(chain.before(), TraceListener.NO_LAYER, position, count);
        for (LayerGraphs layer : chain.layers()) {
            arrays.get(ControlKeys.LAYER).set(0, layer.index());
            execute(layer.graphs(), layer.layer(), position, count);
        }
        return count;
    }

    /** Whether many tokens run at once: they do, if that is compiled, and compile it, if they are a good part of the rows. */
    private boolean isWorthPrefilling(int remaining) {
        return rows > 1 && remaining > 1 && (prefilled || remaining >= rows / WORTH_COMPILING);
    }

    private GraphChain chain(int count) {
        return count == 1 ? graphs.decode() : graphs.prefill().orElseThrow();
    }

    private void runHead(GraphChain chain, int position, int row) {
        setStep(ControlKeys.HEAD_STEP, position, 1, row);
        execute(chain.head(), TraceListener.NO_LAYER, position, 1);
        FloatArray values = arrays.get(GraphSet.logits(program));
        MemorySegment.copy(values.getSegment(), ValueLayout.JAVA_FLOAT, 0, logits, 0, logits.length);
    }

    private void setStep(ArrayKey<IntArray> key, int position, int count, int logitRow) {
        IntArray step = arrays.get(key);
        step.set(Step.POSITION, position);
        step.set(Step.ROWS, count);
        step.set(Step.LOGIT_ROW, logitRow);
    }

    private void execute(List<DeviceGraph> chain, int layer, int firstPosition, int count) {
        for (DeviceGraph each : chain) {
            plan.execute(each);
            each.traced().ifPresent(traced -> report(traced, layer, firstPosition, count));
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

    @Override
    public void close() {
        Optional.ofNullable(plan).ifPresent(DevicePlan::close);
        arrays.close();
    }
}
