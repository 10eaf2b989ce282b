package io.github.tornadotransformers.taskgraphs.training;

import static io.github.tornadotransformers.taskgraphs.memory.GroupContext.CONTEXT;
import static io.github.tornadotransformers.taskgraphs.memory.Scalar.flag;
import static io.github.tornadotransformers.taskgraphs.memory.Scalar.value;

import io.github.tornadotransformers.kernels.AttentionGradientKernels;
import io.github.tornadotransformers.kernels.ElementGradientKernels;
import io.github.tornadotransformers.kernels.LinearGradientKernels;
import io.github.tornadotransformers.kernels.LinearTileGroupKernels;
import io.github.tornadotransformers.kernels.NormGradientKernels;
import io.github.tornadotransformers.kernels.RowKernels;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.graphs.TaskBuilder;
import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.DeviceMatrix;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import io.github.tornadotransformers.taskgraphs.memory.Scalar;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The tasks of an Op's gradient. Gradients of a buffer are added up in an array, which the first that adds to it finds cleared;
 * once the Op that wrote the buffer has read it, it serves what was in the buffer before.
 *
 * <p>A new Op gets a case in {@link #add}; memory that its tasks need is what they ask for.
 */
final class GradientTasks {
    private static final Scalar<Integer> ONE = value(1);

    /** Statistics of the rows of a norm. */
    static final String STATISTICS = "statistics";

    /** Sums over probabilities. */
    static final String PROBABILITY_SUMS = "probability sums";

    private final TaskBuilder in;
    private final TrainingArrays arrays;
    private final int rows;
    private final Argument<IntArray> step;
    private final Argument<IntArray> layer;
    private final Scalar<Integer> math;

    /** The buffers whose gradient has been begun. */
    private final Set<Buffer> begun;

    /** @param begun the buffers whose gradient is there, whole or in part, before the first task */
    GradientTasks(TaskBuilder in, Collection<Buffer> begun) {
        this.in = in;
        this.arrays = new TrainingArrays(in);
        this.rows = in.rows();
        this.step = in.step();
        this.layer = in.layer();
        this.math = in.math();
        this.begun = new HashSet<>(begun);
    }

    /** Ops come last to first. */
    void add(TrainedOp trained) {
        in.use(trained.before());
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
        Argument<FloatArray> x = in.activation(logits);
        Argument<FloatArray> totals = arrays.totals();
        Argument<IntArray> targets = arrays.targets();
        Argument<FloatArray> scale = arrays.scale();
        Argument<FloatArray> dX = arrays.gradient(logits);
        int vocabSize = logits.width();
        in.task("logitGradients", (long) rows * vocabSize)
                .calls(
                        ElementGradientKernels::logitGradients,
                        x,
                        totals,
                        targets,
                        scale,
                        step,
                        dX,
                        value(rows),
                        value(vocabSize),
                        math);
        begun.add(logits);
    }

    /** What the loss of each row is computed from. */
    static void addTotals(TaskBuilder in, Buffer logits) {
        TrainingArrays arrays = new TrainingArrays(in);
        Argument<FloatArray> x = in.activation(logits);
        Argument<IntArray> targets = arrays.targets();
        Argument<FloatArray> totals = arrays.totals();
        Argument<IntArray> step = in.step();
        int rows = in.rows();
        int vocabSize = logits.width();
        Scalar<Integer> math = in.math();
        in.task("rowTotals", rows)
                .calls(
                        ElementGradientKernels::rowTotals,
                        x,
                        targets,
                        step,
                        totals,
                        ONE,
                        value(rows),
                        value(vocabSize),
                        math);
    }

    /** Where gradients of a buffer are added, for an Op that adds to it. */
    private Argument<FloatArray> into(Buffer buffer, Op op) {
        PlannedArray<FloatArray> gradient = arrays.gradient(buffer);
        if (begun.add(buffer)) {
            in.define(gradient);
            int width = buffer.width();
            in.task(op.name() + "Clears", (long) rows * width)
                    .calls(RowKernels::clearRows, step, gradient, value(rows), value(width));
        }
        return gradient;
    }

    private void tokenEmbedding(Op.TokenEmbedding op) {
        Argument<IntArray> tokens = in.tokens();
        Argument<FloatArray> dOut = arrays.gradient(op.output());
        Argument<FloatArray> dTable = arrays.gradient(op.table());
        int width = op.table().rows();
        int vocabSize = op.table().columns();
        in.task(op.name() + "Gradients", width)
                .calls(
                        ElementGradientKernels::addToTokens,
                        tokens,
                        dOut,
                        step,
                        dTable,
                        ONE,
                        value(width),
                        value(vocabSize));
        begun.remove(op.output());
    }

    private void positionEmbedding(Op.PositionEmbedding op) {
        addRows(op, arrays.gradient(op.output()), arrays.gradient(op.table()));
    }

    private void selectRows(Op.SelectRows op) {
        addRows(op, arrays.gradient(op.output()), into(op.input(), op));
        begun.remove(op.output());
    }

    private void addRows(Op op, Argument<FloatArray> dOut, Argument<FloatArray> dX) {
        int width = op.output().width();
        in.task(op.name() + "Gradients", (long) rows * width)
                .calls(ElementGradientKernels::addRows, dOut, step, dX, value(rows), value(width));
    }

    private void layerNorm(Op.LayerNorm op) {
        Argument<FloatArray> dOut = arrays.gradient(op.output());
        norm(op, op.input(), op.weight(), op.epsilon(), true);
        bias(op, op.bias(), dOut);
        begun.remove(op.output());
    }

    private void rmsNorm(Op.RmsNorm op) {
        norm(op, op.input(), op.weight(), op.epsilon(), false);
        begun.remove(op.output());
    }

    private void norm(Op op, Buffer input, Weight parameters, float epsilon, boolean centered) {
        Argument<FloatArray> x = in.activation(input);
        Argument<FloatArray> weight = in.vector(parameters);
        Argument<FloatArray> statistics = in.scratch(STATISTICS, (long) rows * NormGradientKernels.STATISTICS);
        Argument<FloatArray> dOut = arrays.gradient(op.output());
        Argument<FloatArray> dX = into(input, op);
        Argument<FloatArray> dWeight = arrays.gradient(parameters);
        int width = op.output().width();
        in.task(op.name() + "Statistics", rows)
                .calls(
                        NormGradientKernels::rowStatistics,
                        x,
                        dOut,
                        weight,
                        layer,
                        step,
                        statistics,
                        ONE,
                        value(rows),
                        value(width),
                        value(epsilon),
                        flag(centered),
                        math);
        in.task(op.name() + "Inputs", (long) rows * width)
                .calls(
                        NormGradientKernels::addToInputs,
                        x,
                        dOut,
                        weight,
                        statistics,
                        layer,
                        step,
                        dX,
                        value(rows),
                        value(width));
        in.task(op.name() + "Weights", width)
                .calls(NormGradientKernels::addToWeights, x, dOut, statistics, layer, step, dWeight, ONE, value(width));
    }

    /** The gradient of a residual stream passes on unchanged to what the branch was added to. */
    private void linear(Op.Linear op) {
        Argument<FloatArray> dOut = arrays.gradient(op.output());
        switch (op.activation()) {
            case NONE -> {}
            case GELU_TANH -> gelu(op, dOut);
            case SILU, GELU_ERF -> throw new IllegalArgumentException(op.activation() + " has no gradient");
        }
        if (in.worksInGroups(LinearTileGroupKernels.GROUP)) {
            linearInTiles(op, dOut);
        } else {
            linearElements(op, dOut);
        }
        op.bias().ifPresent(each -> bias(op, each, dOut));
        if (!op.addsToOutput()) {
            begun.remove(op.output());
        }
    }

    private void linearInTiles(Op.Linear op, Argument<FloatArray> dOut) {
        Argument<FloatArray> x = in.activation(op.input());
        DeviceMatrix weight = in.matrix(op.weight());
        Argument<FloatArray> dX = into(op.input(), op);
        Argument<FloatArray> dWeight = arrays.gradient(op.weight());
        int inputs = op.weight().rows();
        int outputs = op.weight().columns();
        in.task(op.name() + "Inputs", LinearTileGroupKernels.gradientItems(rows, inputs))
                .calls(
                        LinearTileGroupKernels::tileProducts,
                        CONTEXT,
                        dOut,
                        weight.floats(),
                        weight.words(),
                        weight.scales(),
                        weight.powers(),
                        layer,
                        step,
                        dX,
                        value(LinearTileGroupKernels.INPUT_GRADIENTS),
                        weight.format(),
                        value(LinearTileGroupKernels.tileRows(rows)),
                        value(rows),
                        ONE,
                        value(outputs),
                        value(inputs));
        in.task(op.name() + "Weights", LinearTileGroupKernels.gradientItems(inputs, outputs))
                .calls(
                        LinearTileGroupKernels::tileProducts,
                        CONTEXT,
                        x,
                        dOut,
                        weight.words(),
                        weight.scales(),
                        weight.powers(),
                        layer,
                        step,
                        dWeight,
                        value(LinearTileGroupKernels.WEIGHT_GRADIENTS),
                        weight.format(),
                        value(LinearTileGroupKernels.tileRows(inputs)),
                        value(inputs),
                        ONE,
                        value(rows),
                        value(outputs));
    }

    private void linearElements(Op.Linear op, Argument<FloatArray> dOut) {
        Argument<FloatArray> x = in.activation(op.input());
        Argument<FloatArray> weight = in.matrix(op.weight()).floats();
        Argument<FloatArray> dX = into(op.input(), op);
        Argument<FloatArray> dWeight = arrays.gradient(op.weight());
        int inputs = op.weight().rows();
        int outputs = op.weight().columns();
        in.task(op.name() + "Inputs", (long) rows * inputs)
                .calls(
                        LinearGradientKernels::addToInputs,
                        dOut,
                        weight,
                        layer,
                        step,
                        dX,
                        value(rows),
                        value(inputs),
                        value(outputs));
        in.task(op.name() + "Weights", (long) inputs * outputs)
                .calls(
                        LinearGradientKernels::addToWeights,
                        x,
                        dOut,
                        layer,
                        step,
                        dWeight,
                        value(inputs),
                        value(outputs));
    }

    private void gelu(Op.Linear op, Argument<FloatArray> dOut) {
        Argument<FloatArray> sum = arrays.sumOf(op);
        int width = op.output().width();
        in.task(op.name() + "Activation", (long) rows * width)
                .calls(ElementGradientKernels::geluGradients, sum, dOut, step, dOut, value(rows), value(width), math);
    }

    private void bias(Op op, Weight bias, Argument<FloatArray> dOut) {
        Argument<FloatArray> dBias = arrays.gradient(bias);
        int outputs = bias.columns();
        in.task(op.name() + "Bias", outputs)
                .calls(LinearGradientKernels::addToBias, dOut, layer, step, dBias, ONE, value(outputs));
    }

    private void rotary(Op.Rotary op) {
        Argument<FloatArray> angles = in.angles(op.table());
        Argument<FloatArray> dQkv = arrays.gradient(op.output());
        AttentionShape shape = op.shape();
        int pairs = op.table().pairs();
        in.task(op.name() + "Gradients", (long) rows * (shape.heads() + shape.kvHeads()) * pairs)
                .calls(
                        ElementGradientKernels::rotateBack,
                        angles,
                        step,
                        dQkv,
                        value(rows),
                        value(shape.heads()),
                        value(shape.kvHeads()),
                        value(shape.headDim()),
                        value(pairs),
                        value(op.table().positions()));
    }

    private void attentionOutput(Op.AttentionOutput op, Buffer cached) {
        Argument<FloatArray> probabilities = in.activation(op.probabilities());
        Argument<FloatArray> qkv = in.activation(cached);
        Argument<FloatArray> dOut = arrays.gradient(op.output());
        Argument<FloatArray> dProbabilities = arrays.gradient(op.probabilities());
        Argument<FloatArray> dQkv = into(cached, op);
        AttentionShape shape = op.shape();
        in.task(op.name() + "Probabilities", (long) rows * shape.scoresWidth())
                .calls(
                        AttentionGradientKernels::probabilityGradients,
                        qkv,
                        dOut,
                        step,
                        dProbabilities,
                        value(rows),
                        value(shape.heads()),
                        value(shape.headsPerKvHead()),
                        value(shape.headDim()),
                        value(shape.contextLength()));
        in.task(op.name() + "Values", (long) rows * shape.keyValueWidth())
                .calls(
                        AttentionGradientKernels::addToValues,
                        probabilities,
                        dOut,
                        step,
                        dQkv,
                        value(rows),
                        value(shape.heads()),
                        value(shape.headsPerKvHead()),
                        value(shape.headDim()),
                        value(shape.contextLength()));
        begun.add(op.probabilities());
        begun.remove(op.output());
    }

    private void softmax(Op.Softmax op) {
        Argument<FloatArray> probabilities = in.activation(op.output());
        Argument<FloatArray> sums =
                in.scratch(PROBABILITY_SUMS, (long) rows * op.shape().heads());
        Argument<FloatArray> dScores = arrays.gradient(op.output());
        int heads = op.shape().heads();
        int context = op.shape().contextLength();
        in.task(op.name() + "Sums", (long) rows * heads)
                .calls(
                        AttentionGradientKernels::probabilitySums,
                        probabilities,
                        dScores,
                        step,
                        sums,
                        value(rows),
                        value(heads),
                        value(context));
        in.task(op.name() + "Gradients", (long) rows * heads * context)
                .calls(
                        AttentionGradientKernels::scoreGradients,
                        probabilities,
                        sums,
                        step,
                        dScores,
                        value(rows),
                        value(heads),
                        value(context));
    }

    private void attentionScores(Op.AttentionScores op) {
        Argument<FloatArray> qkv = in.activation(op.qkv());
        Argument<FloatArray> dScores = arrays.gradient(op.output());
        Argument<FloatArray> dQkv = into(op.qkv(), op);
        AttentionShape shape = op.shape();
        in.task(op.name() + "Queries", (long) rows * shape.queryWidth())
                .calls(
                        AttentionGradientKernels::addToQueries,
                        qkv,
                        dScores,
                        step,
                        dQkv,
                        value(rows),
                        value(shape.heads()),
                        value(shape.headsPerKvHead()),
                        value(shape.headDim()),
                        value(shape.contextLength()),
                        value(op.scaling().factor()));
        in.task(op.name() + "Keys", (long) rows * shape.keyValueWidth())
                .calls(
                        AttentionGradientKernels::addToKeys,
                        qkv,
                        dScores,
                        step,
                        dQkv,
                        value(rows),
                        value(shape.heads()),
                        value(shape.headsPerKvHead()),
                        value(shape.headDim()),
                        value(shape.contextLength()),
                        value(op.scaling().factor()));
        begun.remove(op.output());
    }

    private void swiGlu(Op.GatedMlp op) {
        Argument<FloatArray> gateUp = in.activation(op.gateUp());
        Argument<FloatArray> dOut = arrays.gradient(op.output());
        Argument<FloatArray> dGateUp = into(op.gateUp(), op);
        int width = op.output().width();
        in.task(op.name() + "Gradients", (long) rows * width)
                .calls(
                        ElementGradientKernels::addToGateAndUp,
                        gateUp,
                        dOut,
                        step,
                        dGateUp,
                        value(rows),
                        value(width),
                        math);
        begun.remove(op.output());
    }
}
