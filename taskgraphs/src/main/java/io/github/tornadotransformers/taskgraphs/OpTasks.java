package io.github.tornadotransformers.taskgraphs;

import io.github.tornadotransformers.kernels.AttentionKernels;
import io.github.tornadotransformers.kernels.CacheKernels;
import io.github.tornadotransformers.kernels.EmbeddingKernels;
import io.github.tornadotransformers.kernels.LinearKernels;
import io.github.tornadotransformers.kernels.LinearTileKernels;
import io.github.tornadotransformers.kernels.NormKernels;
import io.github.tornadotransformers.kernels.RotaryKernels;
import io.github.tornadotransformers.kernels.RowKernels;
import io.github.tornadotransformers.kernels.Slices;
import io.github.tornadotransformers.kernels.SwiGluKernels;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * The tasks of an Op. An Op that sums has a task for its slices, and one, named like the Op, that adds them up.
 *
 * <p>A new Op gets a case in {@link #addTasks}, and one in {@link MemoryPlan} if it needs memory beside its output.
 */
final class OpTasks {
    private final Program program;
    private final DType dtype;
    private final MathMode math;
    private final DeviceArrays arrays;
    private final Stage stage;
    private final int rows;
    private final IntArray step;
    private final List<DeviceTask> tasks = new ArrayList<>();
    private final Set<TornadoNativeArray> used = new HashSet<>();
    private final Set<TornadoNativeArray> defined = new HashSet<>();

    private final IntArray layer;
    private final String prefix;

    /**
     * @param rows tokens that the tasks work on, at most
     * @param layer holds the index of the layer whose weights and cache are used
     * @param prefix before the names of tasks, to tell layers apart where a graph holds several
     */
    OpTasks(
            Program program,
            DType dtype,
            MathMode math,
            DeviceArrays arrays,
            Stage stage,
            int rows,
            IntArray layer,
            String prefix) {
        this.program = program;
        this.dtype = dtype;
        this.math = math;
        this.arrays = arrays;
        this.stage = stage;
        this.rows = rows;
        this.layer = layer;
        this.prefix = prefix;
        this.step = arrays.ints(stage == Stage.HEAD ? MemoryPlan.HEAD_STEP : MemoryPlan.STEP);
    }

    List<DeviceTask> tasks() {
        return List.copyOf(tasks);
    }

    void add(Op op) {
        if (overwritesOutput(op) && !used.contains(activation(op.output()))) {
            defined.add(activation(op.output()));
        }
        int first = tasks.size();
        addTasks(op);
        tasks.subList(first, tasks.size()).forEach(task -> used.addAll(task.arrays()));
    }

    private void addTasks(Op op) {
        switch (op) {
            case Op.TokenEmbedding embedding -> tokenEmbedding(embedding);
            case Op.PositionEmbedding embedding -> positionEmbedding(embedding);
            case Op.LayerNorm norm -> layerNorm(norm);
            case Op.RmsNorm norm -> rmsNorm(norm);
            case Op.Linear linear -> linear(linear);
            case Op.Rotary rotary -> rotary(rotary);
            case Op.CacheAppend append -> cacheAppend(append);
            case Op.AttentionScores scores -> attentionScores(scores);
            case Op.Softmax softmax -> softmax(softmax);
            case Op.AttentionOutput attention -> attentionOutput(attention);
            case Op.SwiGlu swiGlu -> swiGlu(swiGlu);
            case Op.SelectRows select -> selectRows(select);
        }
    }

    /** Whether an Op writes its output whole, whatever it held before. */
    static boolean overwritesOutput(Op op) {
        return switch (op) {
            case Op.TokenEmbedding _,
                    Op.LayerNorm _,
                    Op.RmsNorm _,
                    Op.AttentionScores _,
                    Op.AttentionOutput _,
                    Op.SwiGlu _,
                    Op.SelectRows _ -> true;
            case Op.Linear linear -> !linear.addsToOutput();
            case Op.PositionEmbedding _, Op.Rotary _, Op.CacheAppend _, Op.Softmax _ -> false;
        };
    }

    /** Outputs that Ops so far wrote before any read them. */
    Set<TornadoNativeArray> defined() {
        return defined;
    }

    /** The device's array of a buffer; the residual stream is the one that stages share. */
    FloatArray activation(Buffer buffer) {
        return arrays.floats(buffer.equals(program.residual()) ? buffer.name() : stage.array(buffer.name()));
    }

    private FloatArray scratch(String name) {
        return arrays.floats(stage.array(name));
    }

    private FloatArray vector(Weight weight) {
        return arrays.floats(weight.name());
    }

    private void task(String name, long items, int scalars, List<TornadoNativeArray> used, TaskAdder adder) {
        String id = prefix + name;
        tasks.add(new DeviceTask(id, items, used.size() + scalars, used, graph -> adder.add(graph, id)));
    }

    /** Calls {@link TaskGraph}'s {@code task} of the right number of arguments. */
    @FunctionalInterface
    private interface TaskAdder {
        void add(TaskGraph graph, String id);
    }

    private void tokenEmbedding(Op.TokenEmbedding op) {
        DeviceMatrix table = arrays.matrix(op.table(), dtype);
        IntArray tokens = arrays.ints(MemoryPlan.TOKENS);
        FloatArray out = activation(op.output());
        int width = op.table().rows();
        int vocabSize = op.table().columns();
        task(
                op.name(),
                (long) rows * width,
                4,
                with(table, tokens, step, out),
                (graph, id) -> graph.task(
                        id,
                        EmbeddingKernels::lookUpTokens,
                        tokens,
                        table.floats(),
                        table.shorts(),
                        table.bytes(),
                        table.scales(),
                        table.powers(),
                        step,
                        out,
                        table.format(),
                        rows,
                        width,
                        vocabSize));
    }

    private void positionEmbedding(Op.PositionEmbedding op) {
        FloatArray table = vector(op.table());
        FloatArray out = activation(op.output());
        int width = op.output().width();
        task(
                op.name(),
                (long) rows * width,
                2,
                List.of(table, step, out),
                (graph, id) -> graph.task(id, EmbeddingKernels::addPositions, table, step, out, rows, width));
    }

    private void layerNorm(Op.LayerNorm op) {
        FloatArray x = activation(op.input());
        FloatArray sums = scratch(MemoryPlan.NORM_SUMS);
        FloatArray deviations = scratch(MemoryPlan.NORM_DEVIATIONS);
        FloatArray weight = vector(op.weight());
        FloatArray bias = vector(op.bias());
        FloatArray out = activation(op.output());
        int width = op.output().width();
        long slices = (long) rows * Slices.count(width);
        task(
                op.name() + "Sums",
                slices,
                2,
                List.of(x, step, sums),
                (graph, id) -> graph.task(id, NormKernels::sliceSums, x, step, sums, rows, width));
        task(
                op.name() + "Deviations",
                slices,
                3,
                List.of(x, sums, step, deviations),
                (graph, id) -> graph.task(
                        id, NormKernels::sliceDeviations, x, sums, step, deviations, rows, width, math.scalar()));
        task(
                op.name(),
                (long) rows * width,
                4,
                List.of(x, sums, deviations, weight, bias, layer, step, out),
                (graph, id) -> graph.task(
                        id,
                        NormKernels::layerNorm,
                        x,
                        sums,
                        deviations,
                        weight,
                        bias,
                        layer,
                        step,
                        out,
                        rows,
                        width,
                        op.epsilon(),
                        math.scalar()));
    }

    private void rmsNorm(Op.RmsNorm op) {
        FloatArray x = activation(op.input());
        FloatArray squares = scratch(MemoryPlan.NORM_SUMS);
        FloatArray weight = vector(op.weight());
        FloatArray out = activation(op.output());
        int width = op.output().width();
        task(
                op.name() + "Squares",
                (long) rows * Slices.count(width),
                2,
                List.of(x, step, squares),
                (graph, id) -> graph.task(id, NormKernels::sliceSquares, x, step, squares, rows, width));
        task(
                op.name(),
                (long) rows * width,
                4,
                List.of(x, squares, weight, layer, step, out),
                (graph, id) -> graph.task(
                        id,
                        NormKernels::rmsNorm,
                        x,
                        squares,
                        weight,
                        layer,
                        step,
                        out,
                        rows,
                        width,
                        op.epsilon(),
                        math.scalar()));
    }

    private void linear(Op.Linear op) {
        FloatArray sums = scratch(MemoryPlan.SUMS);
        if (rows == 1) {
            sliceSums(op, sums);
        } else {
            tileSums(op, sums);
        }
        FloatArray bias = op.bias().map(this::vector).orElse(arrays.noFloats());
        FloatArray out = activation(op.output());
        int slices = Slices.count(op.weight().rows());
        int columns = op.weight().columns();
        task(
                op.name(),
                (long) rows * columns,
                7,
                List.of(sums, bias, layer, step, out),
                (graph, id) -> graph.task(
                        id,
                        LinearKernels::finish,
                        sums,
                        bias,
                        layer,
                        step,
                        out,
                        rows,
                        slices,
                        columns,
                        op.bias().isPresent() ? 1 : 0,
                        activation(op.activation()),
                        op.addsToOutput() ? 1 : 0,
                        math.scalar()));
    }

    private static int activation(Activation activation) {
        return switch (activation) {
            case NONE -> LinearKernels.NO_ACTIVATION;
            case GELU_TANH -> LinearKernels.GELU_TANH;
        };
    }

    private void sliceSums(Op.Linear op, FloatArray sums) {
        FloatArray x = activation(op.input());
        DeviceMatrix weight = arrays.matrix(op.weight(), dtype);
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        long items = (long) Slices.count(inputs) * columns;
        task(
                op.name() + "Slices",
                items,
                3,
                with(weight, x, layer, sums),
                (graph, id) -> graph.task(
                        id,
                        LinearKernels::sliceSums,
                        x,
                        weight.floats(),
                        weight.shorts(),
                        weight.bytes(),
                        weight.scales(),
                        weight.powers(),
                        layer,
                        sums,
                        weight.format(),
                        inputs,
                        columns));
    }

    private void tileSums(Op.Linear op, FloatArray sums) {
        FloatArray x = activation(op.input());
        DeviceMatrix weight = arrays.matrix(op.weight(), dtype);
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        long items = LinearTileKernels.tileSumsItems(rows, inputs, columns);
        task(
                op.name() + "Slices",
                items,
                4,
                with(weight, x, layer, step, sums),
                (graph, id) -> graph.task(
                        id,
                        LinearTileKernels::tileSums,
                        x,
                        weight.floats(),
                        weight.shorts(),
                        weight.bytes(),
                        weight.scales(),
                        weight.powers(),
                        layer,
                        step,
                        sums,
                        weight.format(),
                        rows,
                        inputs,
                        columns));
    }

    private void rotary(Op.Rotary op) {
        FloatArray cosines = arrays.floats(op.name() + MemoryPlan.COSINES);
        FloatArray sines = arrays.floats(op.name() + MemoryPlan.SINES);
        FloatArray qkv = activation(op.output());
        AttentionShape shape = op.shape();
        long items = (long) rows * (shape.heads() + shape.kvHeads()) * (shape.headDim() / 2);
        task(
                op.name(),
                items,
                4,
                List.of(cosines, sines, step, qkv),
                (graph, id) -> graph.task(
                        id,
                        RotaryKernels::rotatePairs,
                        cosines,
                        sines,
                        step,
                        qkv,
                        rows,
                        shape.heads(),
                        shape.kvHeads(),
                        shape.headDim()));
    }

    private void cacheAppend(Op.CacheAppend op) {
        FloatArray qkv = activation(op.qkv());
        FloatArray keys = arrays.floats(MemoryPlan.KEYS);
        FloatArray values = arrays.floats(MemoryPlan.VALUES);
        AttentionShape shape = op.shape();
        long items = (long) rows * shape.keyValueWidth();
        task(
                op.name(),
                items,
                5,
                List.of(qkv, layer, step, keys, values),
                (graph, id) -> graph.task(
                        id,
                        CacheKernels::append,
                        qkv,
                        layer,
                        step,
                        keys,
                        values,
                        rows,
                        shape.heads(),
                        shape.kvHeads(),
                        shape.headDim(),
                        shape.contextLength()));
    }

    private void attentionScores(Op.AttentionScores op) {
        FloatArray qkv = activation(op.qkv());
        FloatArray keys = arrays.floats(MemoryPlan.KEYS);
        FloatArray scores = activation(op.output());
        AttentionShape shape = op.shape();
        long items = (long) rows * shape.scoresWidth();
        task(
                op.name(),
                items,
                6,
                List.of(qkv, keys, layer, step, scores),
                (graph, id) -> graph.task(
                        id,
                        AttentionKernels::scaledScores,
                        qkv,
                        keys,
                        layer,
                        step,
                        scores,
                        rows,
                        shape.heads(),
                        shape.headsPerKvHead(),
                        shape.headDim(),
                        shape.contextLength(),
                        op.scale()));
    }

    private void softmax(Op.Softmax op) {
        FloatArray scores = activation(op.output());
        FloatArray maxima = scratch(MemoryPlan.MAXIMA);
        FloatArray sums = scratch(MemoryPlan.EXPONENTIAL_SUMS);
        int heads = op.shape().heads();
        int context = op.shape().contextLength();
        long slices = (long) rows * heads * Slices.count(context);
        task(
                op.name() + "Maxima",
                slices,
                3,
                List.of(scores, step, maxima),
                (graph, id) ->
                        graph.task(id, AttentionKernels::sliceMaxima, scores, step, maxima, rows, heads, context));
        task(
                op.name() + "Exponentials",
                slices,
                4,
                List.of(scores, maxima, step, sums),
                (graph, id) -> graph.task(
                        id,
                        AttentionKernels::sliceExponentials,
                        scores,
                        maxima,
                        step,
                        sums,
                        rows,
                        heads,
                        context,
                        math.scalar()));
        task(
                op.name(),
                (long) rows * heads * context,
                4,
                List.of(sums, step, scores),
                (graph, id) -> graph.task(
                        id, AttentionKernels::divideByTotals, sums, step, scores, rows, heads, context, math.scalar()));
    }

    private void attentionOutput(Op.AttentionOutput op) {
        FloatArray probabilities = activation(op.probabilities());
        FloatArray values = arrays.floats(MemoryPlan.VALUES);
        FloatArray sums = scratch(MemoryPlan.OUTPUT_SUMS);
        FloatArray out = activation(op.output());
        AttentionShape shape = op.shape();
        int context = shape.contextLength();
        long width = (long) rows * shape.queryWidth();
        task(
                op.name() + "Slices",
                width * Slices.count(context),
                5,
                List.of(probabilities, values, layer, step, sums),
                (graph, id) -> graph.task(
                        id,
                        AttentionKernels::sliceOutputs,
                        probabilities,
                        values,
                        layer,
                        step,
                        sums,
                        rows,
                        shape.heads(),
                        shape.headsPerKvHead(),
                        shape.headDim(),
                        context));
        task(
                op.name(),
                width,
                4,
                List.of(sums, step, out),
                (graph, id) -> graph.task(
                        id,
                        AttentionKernels::finishOutputs,
                        sums,
                        step,
                        out,
                        rows,
                        shape.heads(),
                        shape.headDim(),
                        context));
    }

    private void swiGlu(Op.SwiGlu op) {
        FloatArray gateUp = activation(op.gateUp());
        FloatArray out = activation(op.output());
        int width = op.output().width();
        task(
                op.name(),
                (long) rows * width,
                3,
                List.of(gateUp, step, out),
                (graph, id) -> graph.task(id, SwiGluKernels::swiGlu, gateUp, step, out, rows, width, math.scalar()));
    }

    private void selectRows(Op.SelectRows op) {
        FloatArray x = activation(op.input());
        FloatArray out = activation(op.output());
        int width = op.output().width();
        task(
                op.name(),
                (long) rows * width,
                2,
                List.of(x, step, out),
                (graph, id) -> graph.task(id, RowKernels::copyRow, x, step, out, rows, width));
    }

    private static List<TornadoNativeArray> with(DeviceMatrix matrix, TornadoNativeArray... others) {
        return Stream.concat(matrix.arrays().stream(), Stream.of(others)).toList();
    }
}
