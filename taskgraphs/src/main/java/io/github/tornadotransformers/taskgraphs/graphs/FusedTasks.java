package io.github.tornadotransformers.taskgraphs.graphs;

import static io.github.tornadotransformers.taskgraphs.memory.KernelArguments.activation;
import static io.github.tornadotransformers.taskgraphs.memory.KernelArguments.window;
import static io.github.tornadotransformers.taskgraphs.memory.Scalar.flag;
import static io.github.tornadotransformers.taskgraphs.memory.Scalar.value;

import io.github.tornadotransformers.kernels.AttentionKernels;
import io.github.tornadotransformers.kernels.GatedMlpKernels;
import io.github.tornadotransformers.kernels.NormGroupKernels;
import io.github.tornadotransformers.kernels.NormKernels;
import io.github.tornadotransformers.kernels.QkvKernels;
import io.github.tornadotransformers.kernels.RowSteps;
import io.github.tornadotransformers.kernels.Slices;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Effect;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.DeviceCache;
import io.github.tornadotransformers.taskgraphs.memory.Scalar;
import java.util.List;
import java.util.Optional;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The tasks of Ops in a row, some of which do the work of several: what a task costs beside its arithmetic, and what compiling it
 * costs, is paid less often. The bits are those of the Ops one by one.
 */
final class FusedTasks {
    /** A work item that sums a whole row by itself takes no more terms than this. */
    private static final int MAX_TERMS = 4096;

    /** Scores of a single row, where exponentials do not replace them. */
    private static final String RAW_SCORES = "raw scores";

    private final TaskBuilder in;
    private final OpTasks single;
    private final PageAttentionTasks pages;
    private final int rows;
    private final Argument<IntArray> step;
    private final Argument<IntArray> layer;
    private final Scalar<Integer> math;

    FusedTasks(TaskBuilder in) {
        this.in = in;
        this.single = new OpTasks(in);
        this.pages = new PageAttentionTasks(in, single);
        this.rows = in.rows();
        this.step = in.step();
        this.layer = in.layer();
        this.math = in.math();
    }

    void addAll(List<Op> ops) {
        for (int first = 0; first < ops.size(); ) {
            List<Op> rest = ops.subList(first, ops.size());
            int fused = fuse(rest);
            if (fused == 0) {
                single.add(rest.getFirst());
            }
            first += Math.max(1, fused);
        }
    }

    /** How many Ops at the front of {@code ops} became tasks together. */
    private int fuse(List<Op> ops) {
        return switch (ops.getFirst()) {
            case Op.Linear linear when isPlain(linear) -> fuseLinear(linear, plain(linear), ops);
            case Op.LayerNorm norm
            when isForOneProduct(norm, ops) -> {
                in.begin(norm);
                yield 1 + normedLinear(RowInput.of(norm, in), ops.subList(1, ops.size()));
            }
            case Op.RmsNorm norm
            when isWholeRow(norm) && isForOneProduct(norm, ops) -> {
                in.begin(norm);
                yield 1 + normedLinear(RowInput.of(norm, in), ops.subList(1, ops.size()));
            }
            case Op.LayerNorm norm when sumsRows() && 2 * norm.output().width() <= MAX_TERMS -> layerNormRow(norm);
            case Op.RmsNorm norm when sumsRows() && isShortRow(norm) -> rmsNormRow(norm);
            case Op.AttentionScores scores
            when isByPages(scores, ops) -> {
                ops.subList(0, 3).forEach(in::begin);
                pages.add(scores, (Op.Softmax) ops.get(1), (Op.AttentionOutput) ops.get(2));
                yield 3;
            }
            case Op.AttentionScores scores
            when rows == 1 && scores.shape().contextLength() <= MAX_TERMS ->
                next(ops, 1, Op.Softmax.class)
                        .filter(softmax -> softmax.output().equals(scores.output()))
                        .map(softmax -> scoresAndSoftmax(scores, softmax))
                        .orElse(0);
            default -> 0;
        };
    }

    private static boolean isPlain(Op.Linear linear) {
        return linear.activation() == Activation.NONE && !linear.addsToOutput();
    }

    /** Whether a norm takes less where each work item sums the row than where it has kernels for slices. */
    private boolean sumsRows() {
        return rows == 1 && !in.worksInGroups(NormGroupKernels.GROUP);
    }

    private static boolean isShortRow(Op.RmsNorm norm) {
        return !norm.isInPlace() && norm.groups().count() == 1 && norm.groups().size() <= MAX_TERMS;
    }

    /** Whether the norm is of a row, and nothing else is done. */
    private static boolean isWholeRow(Op.RmsNorm norm) {
        return !norm.isInPlace()
                && norm.groups().count() == 1
                && !norm.residual().adds();
    }

    /** Whether the Op after a norm is a linear layer that can have it in its own task, and is the only one that reads its output. */
    private boolean isForOneProduct(Op norm, List<Op> ops) {
        boolean precedes = next(ops, 1, Op.Linear.class)
                .filter(linear -> linear.input().equals(norm.output()))
                .filter(linear -> !norm.reads().equals(Optional.of(linear.output()))) // each group reads it
                .filter(linear -> single.takesRow(linear, RowSteps.STORES))
                .isPresent();
        for (Op later : ops.subList(Math.min(2, ops.size()), ops.size())) {
            if (precedes && later.reads().filter(norm.output()::equals).isPresent()) {
                return false;
            }
            if (later.output().equals(norm.output())) {
                return precedes && later.effect() == Effect.OVERWRITES;
            }
        }
        return precedes;
    }

    private RowInput plain(Op.Linear linear) {
        return RowInput.plain(in.activation(linear.input()));
    }

    /** How many Ops became tasks together with the norm of the first one's input. */
    private int normedLinear(RowInput input, List<Op> ops) {
        Op.Linear linear = (Op.Linear) ops.getFirst();
        int fused = isPlain(linear) ? fuseLinear(linear, input, ops) : 0;
        if (fused == 0) {
            in.begin(linear);
            single.rowProduct(linear, input);
        }
        return Math.max(1, fused);
    }

    /** Whether attention is Ops that follow each other, on a device that takes it page by page. */
    private boolean isByPages(Op.AttentionScores scores, List<Op> ops) {
        return pages.takes(scores.shape())
                && next(ops, 1, Op.Softmax.class)
                        .filter(softmax -> softmax.output().equals(scores.output()))
                        .isPresent()
                && next(ops, 2, Op.AttentionOutput.class)
                        .filter(output -> output.probabilities().equals(scores.output()))
                        .isPresent();
    }

    private static <T extends Op> Optional<T> next(List<Op> ops, int index, Class<T> type) {
        return index < ops.size() && type.isInstance(ops.get(index))
                ? Optional.of(type.cast(ops.get(index)))
                : Optional.empty();
    }

    private int fuseLinear(Op.Linear linear, RowInput input, List<Op> ops) {
        Optional<Op.Rotary> rotary = next(ops, 1, Op.Rotary.class)
                .filter(op -> op.output().equals(linear.output()))
                .filter(Op.Rotary::rotatesWholeHeads); // its kernel has no work items for elements that stay
        int after = rotary.isPresent() ? 2 : 1;
        Optional<Op.CacheAppend> append =
                next(ops, after, Op.CacheAppend.class).filter(op -> op.qkv().equals(linear.output()));
        if (append.isPresent()) {
            ops.subList(0, after + 1).forEach(in::begin);
            OpTasks.LinearSums sums = single.linearSums(linear, input);
            rotary.ifPresentOrElse(op -> finishRotated(linear, op, sums), () -> finishQkv(linear, append.get(), sums));
            return after + 1;
        }
        Optional<Op.GatedMlp> mlp =
                next(ops, 1, Op.GatedMlp.class).filter(op -> op.gateUp().equals(linear.output()));
        mlp.ifPresent(op -> {
            ops.subList(0, 2).forEach(in::begin);
            if (single.takesRow(linear, RowSteps.GATES)) {
                single.rowProduct(
                        op.name(),
                        linear,
                        input,
                        linear.bias(),
                        op.activation(),
                        RowSteps.GATES,
                        in.activation(op.output()));
            } else {
                finishGateUp(linear, op, single.linearSums(linear, input));
            }
        });
        return mlp.isPresent() ? 2 : 0;
    }

    private void finishQkv(Op.Linear linear, Op.CacheAppend append, OpTasks.LinearSums sums) {
        Argument<FloatArray> bias = in.bias(linear.bias());
        Argument<FloatArray> qkv = in.activation(linear.output());
        DeviceCache keys = in.keys();
        DeviceCache values = in.values();
        AttentionShape shape = append.shape();
        long items = (long) rows * shape.fusedWidth();
        in.task(linear.name(), items)
                .calls(
                        QkvKernels::finish,
                        sums.array(),
                        bias,
                        layer,
                        step,
                        qkv,
                        keys.floats(),
                        values.floats(),
                        keys.shorts(),
                        values.shorts(),
                        keys.bounds(),
                        value(rows),
                        value(sums.parts()),
                        value(shape.heads()),
                        value(shape.kvHeads()),
                        value(shape.headDim()),
                        in.pages(),
                        keys.format(),
                        flag(linear.bias().isPresent()));
    }

    private void finishRotated(Op.Linear linear, Op.Rotary rotary, OpTasks.LinearSums sums) {
        Argument<FloatArray> bias = in.bias(linear.bias());
        Argument<FloatArray> angles = in.angles(rotary.table());
        Argument<FloatArray> qkv = in.activation(linear.output());
        DeviceCache keys = in.keys();
        DeviceCache values = in.values();
        AttentionShape shape = rotary.shape();
        long items = (long) rows * (shape.fusedWidth() / 2);
        in.task(linear.name(), items)
                .calls(
                        QkvKernels::finishRotated,
                        sums.array(),
                        bias,
                        angles,
                        layer,
                        step,
                        qkv,
                        keys.floats(),
                        values.floats(),
                        keys.shorts(),
                        values.shorts(),
                        keys.bounds(),
                        value(rows),
                        value(sums.parts()),
                        value(shape.heads()),
                        value(shape.kvHeads()),
                        value(shape.headDim()),
                        value(rotary.table().positions()),
                        in.pages(),
                        keys.format(),
                        flag(linear.bias().isPresent()));
    }

    private void finishGateUp(Op.Linear linear, Op.GatedMlp mlp, OpTasks.LinearSums sums) {
        Argument<FloatArray> bias = in.bias(linear.bias());
        Argument<FloatArray> out = in.activation(mlp.output());
        int width = mlp.output().width();
        in.task(mlp.name(), (long) rows * width)
                .calls(
                        GatedMlpKernels::finishGateUp,
                        sums.array(),
                        bias,
                        layer,
                        step,
                        out,
                        value(rows),
                        value(sums.parts()),
                        value(width),
                        flag(linear.bias().isPresent()),
                        value(activation(mlp.activation())),
                        math);
    }

    private int layerNormRow(Op.LayerNorm norm) {
        in.begin(norm);
        Argument<FloatArray> x = in.activation(norm.input());
        Argument<FloatArray> weight = in.vector(norm.weight());
        Argument<FloatArray> bias = in.vector(norm.bias());
        Argument<FloatArray> out = in.activation(norm.output());
        int width = norm.output().width();
        in.task(norm.name(), width)
                .calls(
                        NormKernels::layerNormRow,
                        x,
                        weight,
                        bias,
                        layer,
                        out,
                        value(rows),
                        value(width),
                        value(norm.epsilon()),
                        math);
        return 1;
    }

    private int rmsNormRow(Op.RmsNorm norm) {
        in.begin(norm);
        Argument<FloatArray> x = in.activation(norm.input());
        Argument<FloatArray> weight = in.vector(norm.weight());
        Argument<FloatArray> out = in.activation(norm.output());
        int width = norm.output().width();
        in.task(norm.name(), width)
                .calls(
                        NormKernels::rmsNormRow,
                        x,
                        weight,
                        layer,
                        out,
                        value(rows),
                        value(width),
                        value(norm.epsilon()),
                        flag(norm.residual().adds()),
                        value(norm.residual().scale()),
                        math);
        return 1;
    }

    /** Scores go to an array of their own: exponentials replace them while other work items still look for the maximum. */
    private int scoresAndSoftmax(Op.AttentionScores scores, Op.Softmax softmax) {
        in.begin(scores);
        in.begin(softmax);
        Argument<FloatArray> raw = in.scratch(RAW_SCORES, scores.shape().scoresWidth());
        single.attentionScores(scores, raw);
        Argument<FloatArray> sums = single.exponentialSums(softmax);
        Argument<FloatArray> exponentials = in.activation(softmax.output());
        int heads = softmax.shape().heads();
        int context = softmax.shape().contextLength();
        in.task(softmax.name() + "Exponentials", (long) heads * Slices.count(context))
                .calls(
                        AttentionKernels::rowExponentials,
                        raw,
                        step,
                        exponentials,
                        sums,
                        value(heads),
                        value(context),
                        value(window(softmax.shape())),
                        math);
        single.divideByTotals(softmax, sums);
        return 2;
    }
}
