package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.kernels.AttentionGradientKernels;
import io.github.tornadotransformers.kernels.ElementGradientKernels;
import io.github.tornadotransformers.kernels.LinearGradientKernels;
import io.github.tornadotransformers.kernels.NormGradientKernels;
import io.github.tornadotransformers.kernels.RowKernels;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.graphs.TaskBuilder;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The tasks of an Op's gradient. Gradients of a buffer are added up in an array, which the first that adds to it finds cleared;
 * once the Op that wrote the buffer has read it, it serves what was in the buffer before.
 *
 * <p>A new Op gets a case in {@link #add}, and one in {@link TrainingMemoryPlan} if it needs memory beside its output.
 */
final class GradientTasks {
    private static final int ONE = 1;

    private final TaskBuilder in;
    private final int rows;
    private final IntArray step;
    private final IntArray layer;
    private final int math;

    /** The buffers whose gradient has been begun. */
    private final Set<Buffer> begun;

    /** @param begun the buffers whose gradient is there, whole or in part, before the first task */
    GradientTasks(TaskBuilder in, Collection<Buffer> begun) {
        this.in = in;
        this.rows = in.rows();
        this.step = in.step();
        this.layer = in.layer();
        this.math = in.math();
        this.begun = new HashSet<>(begun);
    }

    /** Ops come last to first. */
    void add(TrainedOp trained) {
        in.name(trained.before());
        switch (trained.op()) {
            case Op.TokenEmbedding embedding -> tokenEmbedding(embedding);
            case Op.PositionEmbedding embedding -> positionEmbedding(embedding);
            case Op.LayerNorm norm -> layerNorm(norm);
            case Op.RmsNorm norm -> rmsNorm(norm);
            case Op.Linear linear -> linear(linear);
            case Op.Rotary rotary -> rotary(rotary);
            case Op.CacheAppend _ -> {} // Keys and values get their gradients where they are copies of.
            case Op.AttentionScores scores -> attentionScores(scores);
            case Op.Softmax softmax -> softmax(softmax);
            case Op.AttentionOutput attention -> attentionOutput(attention, trained.cached());
            case Op.GatedMlp swiGlu -> swiGlu(swiGlu);
            case Op.Scale scale -> throw new IllegalArgumentException(scale.name() + " has no gradient");
            case Op.SelectRows select -> selectRows(select);
        }
    }

    /** The gradients of the logits, from what {@link #addTotals} leaves. */
    void addLogits(Buffer logits) {
        FloatArray x = in.activation(logits);
        FloatArray totals = in.floats(TrainingMemoryPlan.TOTALS);
        IntArray targets = in.ints(TrainingMemoryPlan.TARGETS);
        FloatArray scale = in.floats(TrainingMemoryPlan.SCALE);
        FloatArray dX = in.gradient(logits);
        int vocabSize = logits.width();
        in.task(
                "logitGradients",
                (long) rows * vocabSize,
                3,
                List.of(x, totals, targets, scale, step, dX),
                (graph, id) -> graph.task(
                        id,
                        ElementGradientKernels::logitGradients,
                        x,
                        totals,
                        targets,
                        scale,
                        step,
                        dX,
                        rows,
                        vocabSize,
                        math));
        begun.add(logits);
    }

    /** What the loss of each row is computed from. */
    static void addTotals(TaskBuilder in, Buffer logits) {
        FloatArray x = in.activation(logits);
        IntArray targets = in.ints(TrainingMemoryPlan.TARGETS);
        FloatArray totals = in.floats(TrainingMemoryPlan.TOTALS);
        IntArray step = in.step();
        int rows = in.rows();
        int vocabSize = logits.width();
        int math = in.math();
        in.task(
                "rowTotals",
                rows,
                4,
                List.of(x, targets, step, totals),
                (graph, id) -> graph.task(
                        id, ElementGradientKernels::rowTotals, x, targets, step, totals, ONE, rows, vocabSize, math));
    }

    /** Where gradients of a buffer are added, for an Op that adds to it. */
    private FloatArray into(Buffer buffer, Op op) {
        FloatArray gradient = in.gradient(buffer);
        if (begun.add(buffer)) {
            in.define(gradient);
            int width = buffer.width();
            in.task(
                    op.name() + "Clears",
                    (long) rows * width,
                    2,
                    List.of(step, gradient),
                    (graph, id) -> graph.task(id, RowKernels::clearRows, step, gradient, rows, width));
        }
        return gradient;
    }

    private void tokenEmbedding(Op.TokenEmbedding op) {
        IntArray tokens = in.ints(MemoryPlan.TOKENS);
        FloatArray dOut = in.gradient(op.output());
        FloatArray dTable = in.gradient(op.table());
        int width = op.table().rows();
        int vocabSize = op.table().columns();
        in.task(
                op.name() + "Gradients",
                width,
                3,
                List.of(tokens, dOut, step, dTable),
                (graph, id) -> graph.task(
                        id, ElementGradientKernels::addToTokens, tokens, dOut, step, dTable, ONE, width, vocabSize));
        begun.remove(op.output());
    }

    private void positionEmbedding(Op.PositionEmbedding op) {
        addRows(op, in.gradient(op.output()), in.gradient(op.table()));
    }

    private void selectRows(Op.SelectRows op) {
        addRows(op, in.gradient(op.output()), into(op.input(), op));
        begun.remove(op.output());
    }

    private void addRows(Op op, FloatArray dOut, FloatArray dX) {
        int width = op.output().width();
        in.task(
                op.name() + "Gradients",
                (long) rows * width,
                2,
                List.of(dOut, step, dX),
                (graph, id) -> graph.task(id, ElementGradientKernels::addRows, dOut, step, dX, rows, width));
    }

    private void layerNorm(Op.LayerNorm op) {
        FloatArray dOut = in.gradient(op.output());
        norm(op, op.input(), op.weight(), op.epsilon(), true);
        bias(op, op.bias(), dOut);
        begun.remove(op.output());
    }

    private void rmsNorm(Op.RmsNorm op) {
        norm(op, op.input(), op.weight(), op.epsilon(), false);
        begun.remove(op.output());
    }

    private void norm(Op op, Buffer input, Weight parameters, float epsilon, boolean centered) {
        FloatArray x = in.activation(input);
        FloatArray weight = in.vector(parameters);
        FloatArray statistics = in.scratch(TrainingMemoryPlan.STATISTICS);
        FloatArray dOut = in.gradient(op.output());
        FloatArray dX = into(input, op);
        FloatArray dWeight = in.gradient(parameters);
        int width = op.output().width();
        in.task(
                op.name() + "Statistics",
                rows,
                6,
                List.of(x, dOut, weight, layer, step, statistics),
                (graph, id) -> graph.task(
                        id,
                        NormGradientKernels::rowStatistics,
                        x,
                        dOut,
                        weight,
                        layer,
                        step,
                        statistics,
                        ONE,
                        rows,
                        width,
                        epsilon,
                        centered ? 1 : 0,
                        math));
        in.task(
                op.name() + "Inputs",
                (long) rows * width,
                2,
                List.of(x, dOut, weight, statistics, layer, step, dX),
                (graph, id) -> graph.task(
                        id,
                        NormGradientKernels::addToInputs,
                        x,
                        dOut,
                        weight,
                        statistics,
                        layer,
                        step,
                        dX,
                        rows,
                        width));
        in.task(
                op.name() + "Weights",
                width,
                2,
                List.of(x, dOut, statistics, layer, step, dWeight),
                (graph, id) -> graph.task(
                        id, NormGradientKernels::addToWeights, x, dOut, statistics, layer, step, dWeight, ONE, width));
    }

    /** The gradient of a residual stream passes on unchanged to what the branch was added to. */
    private void linear(Op.Linear op) {
        FloatArray dOut = in.gradient(op.output());
        switch (op.activation()) {
            case NONE -> {}
            case GELU_TANH -> gelu(op, dOut);
            case SILU, GELU_ERF -> throw new IllegalArgumentException(op.activation() + " has no gradient");
        }
        FloatArray x = in.activation(op.input());
        FloatArray weight = in.matrix(op.weight()).floats();
        FloatArray dX = into(op.input(), op);
        FloatArray dWeight = in.gradient(op.weight());
        int inputs = op.weight().rows();
        int outputs = op.weight().columns();
        in.task(
                op.name() + "Inputs",
                (long) rows * inputs,
                3,
                List.of(dOut, weight, layer, step, dX),
                (graph, id) -> graph.task(
                        id, LinearGradientKernels::addToInputs, dOut, weight, layer, step, dX, rows, inputs, outputs));
        in.task(
                op.name() + "Weights",
                (long) inputs * outputs,
                2,
                List.of(x, dOut, layer, step, dWeight),
                (graph, id) -> graph.task(
                        id, LinearGradientKernels::addToWeights, x, dOut, layer, step, dWeight, inputs, outputs));
        op.bias().ifPresent(each -> bias(op, each, dOut));
        if (!op.addsToOutput()) {
            begun.remove(op.output());
        }
    }

    private void gelu(Op.Linear op, FloatArray dOut) {
        FloatArray sum = in.scratch(TrainedOp.sumOf(op));
        int width = op.output().width();
        in.task(
                op.name() + "Activation",
                (long) rows * width,
                3,
                List.of(sum, dOut, step, dOut),
                (graph, id) -> graph.task(
                        id, ElementGradientKernels::geluGradients, sum, dOut, step, dOut, rows, width, math));
    }

    private void bias(Op op, Weight bias, FloatArray dOut) {
        FloatArray dBias = in.gradient(bias);
        int outputs = bias.columns();
        in.task(
                op.name() + "Bias",
                outputs,
                2,
                List.of(dOut, layer, step, dBias),
                (graph, id) ->
                        graph.task(id, LinearGradientKernels::addToBias, dOut, layer, step, dBias, ONE, outputs));
    }

    private void rotary(Op.Rotary op) {
        FloatArray angles = in.floats(op.name() + MemoryPlan.ANGLES);
        FloatArray dQkv = in.gradient(op.output());
        AttentionShape shape = op.shape();
        in.task(
                op.name() + "Gradients",
                (long) rows * (shape.heads() + shape.kvHeads()) * (shape.headDim() / 2),
                5,
                List.of(angles, step, dQkv),
                (graph, id) -> graph.task(
                        id,
                        ElementGradientKernels::rotateBack,
                        angles,
                        step,
                        dQkv,
                        rows,
                        shape.heads(),
                        shape.kvHeads(),
                        shape.headDim(),
                        op.table().positions()));
    }

    private void attentionOutput(Op.AttentionOutput op, Buffer cached) {
        FloatArray probabilities = in.activation(op.probabilities());
        FloatArray qkv = in.activation(cached);
        FloatArray dOut = in.gradient(op.output());
        FloatArray dProbabilities = in.gradient(op.probabilities());
        FloatArray dQkv = into(cached, op);
        AttentionShape shape = op.shape();
        in.task(
                op.name() + "Probabilities",
                (long) rows * shape.scoresWidth(),
                5,
                List.of(qkv, dOut, step, dProbabilities),
                (graph, id) -> graph.task(
                        id,
                        AttentionGradientKernels::probabilityGradients,
                        qkv,
                        dOut,
                        step,
                        dProbabilities,
                        rows,
                        shape.heads(),
                        shape.headsPerKvHead(),
                        shape.headDim(),
                        shape.contextLength()));
        in.task(
                op.name() + "Values",
                (long) rows * shape.keyValueWidth(),
                5,
                List.of(probabilities, dOut, step, dQkv),
                (graph, id) -> graph.task(
                        id,
                        AttentionGradientKernels::addToValues,
                        probabilities,
                        dOut,
                        step,
                        dQkv,
                        rows,
                        shape.heads(),
                        shape.headsPerKvHead(),
                        shape.headDim(),
                        shape.contextLength()));
        begun.add(op.probabilities());
        begun.remove(op.output());
    }

    private void softmax(Op.Softmax op) {
        FloatArray probabilities = in.activation(op.output());
        FloatArray sums = in.scratch(TrainingMemoryPlan.PROBABILITY_SUMS);
        FloatArray dScores = in.gradient(op.output());
        int heads = op.shape().heads();
        int context = op.shape().contextLength();
        in.task(
                op.name() + "Sums",
                (long) rows * heads,
                3,
                List.of(probabilities, dScores, step, sums),
                (graph, id) -> graph.task(
                        id,
                        AttentionGradientKernels::probabilitySums,
                        probabilities,
                        dScores,
                        step,
                        sums,
                        rows,
                        heads,
                        context));
        in.task(
                op.name() + "Gradients",
                (long) rows * heads * context,
                3,
                List.of(probabilities, sums, step, dScores),
                (graph, id) -> graph.task(
                        id,
                        AttentionGradientKernels::scoreGradients,
                        probabilities,
                        sums,
                        step,
                        dScores,
                        rows,
                        heads,
                        context));
    }

    private void attentionScores(Op.AttentionScores op) {
        FloatArray qkv = in.activation(op.qkv());
        FloatArray dScores = in.gradient(op.output());
        FloatArray dQkv = into(op.qkv(), op);
        AttentionShape shape = op.shape();
        in.task(
                op.name() + "Queries",
                (long) rows * shape.queryWidth(),
                6,
                List.of(qkv, dScores, step, dQkv),
                (graph, id) -> graph.task(
                        id,
                        AttentionGradientKernels::addToQueries,
                        qkv,
                        dScores,
                        step,
                        dQkv,
                        rows,
                        shape.heads(),
                        shape.headsPerKvHead(),
                        shape.headDim(),
                        shape.contextLength(),
                        op.scaling().factor()));
        in.task(
                op.name() + "Keys",
                (long) rows * shape.keyValueWidth(),
                6,
                List.of(qkv, dScores, step, dQkv),
                (graph, id) -> graph.task(
                        id,
                        AttentionGradientKernels::addToKeys,
                        qkv,
                        dScores,
                        step,
                        dQkv,
                        rows,
                        shape.heads(),
                        shape.headsPerKvHead(),
                        shape.headDim(),
                        shape.contextLength(),
                        op.scaling().factor()));
        begun.remove(op.output());
    }

    private void swiGlu(Op.GatedMlp op) {
        FloatArray gateUp = in.activation(op.gateUp());
        FloatArray dOut = in.gradient(op.output());
        FloatArray dGateUp = into(op.gateUp(), op);
        int width = op.output().width();
        in.task(
                op.name() + "Gradients",
                (long) rows * width,
                3,
                List.of(gateUp, dOut, step, dGateUp),
                (graph, id) -> graph.task(
                        id, ElementGradientKernels::addToGateAndUp, gateUp, dOut, step, dGateUp, rows, width, math));
        begun.remove(op.output());
    }
}
