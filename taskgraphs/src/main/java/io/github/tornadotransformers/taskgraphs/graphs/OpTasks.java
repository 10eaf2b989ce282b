package io.github.tornadotransformers.taskgraphs.graphs;

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
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.taskgraphs.memory.DeviceMatrix;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import java.util.List;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * The tasks of an Op. An Op that sums has a task for its slices, and one, named like the Op, that adds them up.
 *
 * <p>A new Op gets a case in {@link #addTasks}, and one in {@link MemoryPlan} if it needs memory beside its output.
 */
public final class OpTasks {
    private final TaskBuilder in;
    private final int rows;
    private final IntArray step;
    private final IntArray layer;
    private final int math;

    public OpTasks(TaskBuilder in) {
        this.in = in;
        this.rows = in.rows();
        this.step = in.step();
        this.layer = in.layer();
        this.math = in.math();
    }

    public void add(Op op) {
        in.begin(op);
        addTasks(op);
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
            case Op.GatedMlp swiGlu -> swiGlu(swiGlu);
            case Op.Scale scale -> throw new IllegalArgumentException(scale.name() + " has no kernel");
            case Op.SelectRows select -> selectRows(select);
        }
    }

    private void tokenEmbedding(Op.TokenEmbedding op) {
        DeviceMatrix table = in.matrix(op.table());
        IntArray tokens = in.ints(MemoryPlan.TOKENS);
        FloatArray out = in.activation(op.output());
        int width = op.table().rows();
        int vocabSize = op.table().columns();
        in.task(
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
        FloatArray table = in.vector(op.table());
        FloatArray out = in.activation(op.output());
        int width = op.output().width();
        in.task(
                op.name(),
                (long) rows * width,
                2,
                List.of(table, step, out),
                (graph, id) -> graph.task(id, EmbeddingKernels::addPositions, table, step, out, rows, width));
    }

    private void layerNorm(Op.LayerNorm op) {
        FloatArray x = in.activation(op.input());
        FloatArray sums = in.scratch(MemoryPlan.NORM_SUMS);
        FloatArray deviations = in.scratch(MemoryPlan.NORM_DEVIATIONS);
        FloatArray weight = in.vector(op.weight());
        FloatArray bias = in.vector(op.bias());
        FloatArray out = in.activation(op.output());
        int width = op.output().width();
        long slices = (long) rows * Slices.count(width);
        in.task(
                op.name() + "Sums",
                slices,
                2,
                List.of(x, step, sums),
                (graph, id) -> graph.task(id, NormKernels::sliceSums, x, step, sums, rows, width));
        in.task(
                op.name() + "Deviations",
                slices,
                3,
                List.of(x, sums, step, deviations),
                (graph, id) ->
                        graph.task(id, NormKernels::sliceDeviations, x, sums, step, deviations, rows, width, math));
        in.task(
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
                        math));
    }

    private void rmsNorm(Op.RmsNorm op) {
        FloatArray x = in.activation(op.input());
        FloatArray squares = in.scratch(MemoryPlan.NORM_SUMS);
        FloatArray weight = in.vector(op.weight());
        FloatArray out = in.activation(op.output());
        int width = op.output().width();
        in.task(
                op.name() + "Squares",
                (long) rows * Slices.count(width),
                2,
                List.of(x, step, squares),
                (graph, id) -> graph.task(id, NormKernels::sliceSquares, x, step, squares, rows, width));
        in.task(
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
                        math));
    }

    private void linear(Op.Linear op) {
        FloatArray sums = linearSlices(op);
        int slices = Slices.count(op.weight().rows());
        finish(op.name(), op, sums, slices, activation(op.activation()), in.activation(op.output()));
    }

    /**
     * What follows the sums of a linear layer: bias, activation, residual.
     *
     * @param sums {@code [rows][slices][columns]}
     * @param activation a constant of {@link LinearKernels}
     */
    public void finish(String name, Op.Linear op, FloatArray sums, int slices, int activation, FloatArray out) {
        FloatArray bias = op.bias().map(in::vector).orElse(in.noFloats());
        int columns = op.weight().columns();
        in.task(
                name,
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
                        activation,
                        op.addsToOutput() ? 1 : 0,
                        math));
    }

    /** The slice sums of a linear layer, and where they are. */
    public FloatArray linearSlices(Op.Linear op) {
        FloatArray sums = in.scratch(MemoryPlan.SUMS);
        if (rows == 1) {
            sliceSums(op, sums);
        } else {
            tileSums(op, sums);
        }
        return sums;
    }

    private static int activation(Activation activation) {
        return switch (activation) {
            case NONE -> LinearKernels.NO_ACTIVATION;
            case GELU_TANH -> LinearKernels.GELU_TANH;
            case SILU, GELU_ERF -> throw new IllegalArgumentException(activation + " has no kernel");
        };
    }

    private void sliceSums(Op.Linear op, FloatArray sums) {
        FloatArray x = in.activation(op.input());
        DeviceMatrix weight = in.matrix(op.weight());
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        long items = (long) Slices.count(inputs) * columns;
        in.task(
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
        FloatArray x = in.activation(op.input());
        DeviceMatrix weight = in.matrix(op.weight());
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        long items = LinearTileKernels.tileSumsItems(rows, inputs, columns);
        in.task(
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
        FloatArray angles = in.floats(op.name() + MemoryPlan.ANGLES);
        FloatArray qkv = in.activation(op.output());
        AttentionShape shape = op.shape();
        long items = (long) rows * (shape.heads() + shape.kvHeads()) * (shape.headDim() / 2);
        in.task(
                op.name(),
                items,
                5,
                List.of(angles, step, qkv),
                (graph, id) -> graph.task(
                        id,
                        RotaryKernels::rotatePairs,
                        angles,
                        step,
                        qkv,
                        rows,
                        shape.heads(),
                        shape.kvHeads(),
                        shape.headDim(),
                        op.table().positions()));
    }

    private void cacheAppend(Op.CacheAppend op) {
        IntArray cached = in.cacheLayer();
        FloatArray qkv = in.activation(op.qkv());
        FloatArray keys = in.keys();
        FloatArray values = in.values();
        AttentionShape shape = op.shape();
        long items = (long) rows * shape.keyValueWidth();
        in.task(
                op.name(),
                items,
                5,
                List.of(qkv, cached, step, keys, values),
                (graph, id) -> graph.task(
                        id,
                        CacheKernels::append,
                        qkv,
                        cached,
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
        attentionScores(op, in.activation(op.output()));
    }

    public void attentionScores(Op.AttentionScores op, FloatArray scores) {
        IntArray cached = in.cacheLayer();
        FloatArray qkv = in.activation(op.qkv());
        FloatArray keys = in.keys();
        AttentionShape shape = op.shape();
        long items = (long) rows * shape.scoresWidth();
        in.task(
                op.name(),
                items,
                6,
                List.of(qkv, keys, cached, step, scores),
                (graph, id) -> graph.task(
                        id,
                        AttentionKernels::scaledScores,
                        qkv,
                        keys,
                        cached,
                        step,
                        scores,
                        rows,
                        shape.heads(),
                        shape.headsPerKvHead(),
                        shape.headDim(),
                        shape.contextLength(),
                        op.scaling().factor()));
    }

    private void softmax(Op.Softmax op) {
        FloatArray scores = in.activation(op.output());
        FloatArray maxima = in.scratch(MemoryPlan.MAXIMA);
        FloatArray sums = in.scratch(MemoryPlan.EXPONENTIAL_SUMS);
        int heads = op.shape().heads();
        int context = op.shape().contextLength();
        long slices = (long) rows * heads * Slices.count(context);
        in.task(
                op.name() + "Maxima",
                slices,
                3,
                List.of(scores, step, maxima),
                (graph, id) ->
                        graph.task(id, AttentionKernels::sliceMaxima, scores, step, maxima, rows, heads, context));
        in.task(
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
                        math));
        divideByTotals(op, sums);
    }

    /** The last task of a softmax: exponentials to probabilities. */
    public void divideByTotals(Op.Softmax op, FloatArray sums) {
        FloatArray scores = in.activation(op.output());
        int heads = op.shape().heads();
        int context = op.shape().contextLength();
        in.task(
                op.name(),
                (long) rows * heads * context,
                4,
                List.of(sums, step, scores),
                (graph, id) -> graph.task(
                        id, AttentionKernels::divideByTotals, sums, step, scores, rows, heads, context, math));
    }

    private void attentionOutput(Op.AttentionOutput op) {
        IntArray cached = in.cacheLayer();
        FloatArray probabilities = in.activation(op.probabilities());
        FloatArray values = in.values();
        FloatArray sums = in.scratch(MemoryPlan.OUTPUT_SUMS);
        FloatArray out = in.activation(op.output());
        AttentionShape shape = op.shape();
        int context = shape.contextLength();
        long width = (long) rows * shape.queryWidth();
        in.task(
                op.name() + "Slices",
                width * Slices.count(context),
                5,
                List.of(probabilities, values, cached, step, sums),
                (graph, id) -> graph.task(
                        id,
                        AttentionKernels::sliceOutputs,
                        probabilities,
                        values,
                        cached,
                        step,
                        sums,
                        rows,
                        shape.heads(),
                        shape.headsPerKvHead(),
                        shape.headDim(),
                        context));
        in.task(
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

    private void swiGlu(Op.GatedMlp op) {
        FloatArray gateUp = in.activation(op.gateUp());
        FloatArray out = in.activation(op.output());
        int width = op.output().width();
        in.task(
                op.name(),
                (long) rows * width,
                3,
                List.of(gateUp, step, out),
                (graph, id) -> graph.task(id, SwiGluKernels::swiGlu, gateUp, step, out, rows, width, math));
    }

    private void selectRows(Op.SelectRows op) {
        FloatArray x = in.activation(op.input());
        FloatArray out = in.activation(op.output());
        int width = op.output().width();
        in.task(
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
