package io.github.tornadotransformers.taskgraphs.training;

import static io.github.tornadotransformers.taskgraphs.memory.Scalar.value;

import io.github.tornadotransformers.kernels.LinearTileGroupKernels;
import io.github.tornadotransformers.kernels.LinearTileKernels;
import io.github.tornadotransformers.kernels.RowKernels;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.taskgraphs.graphs.OpTasks;
import io.github.tornadotransformers.taskgraphs.graphs.TaskBuilder;
import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The tasks of an Op of a whole sequence, which leave in arrays of their own what its gradient will need. */
final class TrainingTasks {
    /** Sums come added up, not as slices. */
    private static final int WHOLE_SUMS = 1;

    /** Of a linear layer. */
    private static final String SUMS = "sums";

    private final TaskBuilder in;
    private final OpTasks single;
    private final TrainingArrays arrays;
    private final int rows;
    private final Argument<IntArray> step;
    private final Argument<IntArray> layer;

    TrainingTasks(TaskBuilder in) {
        this.in = in;
        this.single = new OpTasks(in);
        this.arrays = new TrainingArrays(in);
        this.rows = in.rows();
        this.step = in.step();
        this.layer = in.layer();
    }

    void add(TrainedOp trained) {
        in.use(trained.after());
        switch (trained.op()) {
            case Op.Linear linear -> linear(linear, trained);
            case Op.SelectRows select -> {
                Argument<FloatArray> x = in.activation(select.input());
                take(
                        select.name(),
                        x,
                        in.firstLayer(),
                        in.activation(select.output()),
                        select.output().width());
            }
            case Op.TokenEmbedding _,
                    Op.PositionEmbedding _,
                    Op.LayerNorm _,
                    Op.RmsNorm _,
                    Op.Rotary _,
                    Op.CacheAppend _,
                    Op.AttentionScores _,
                    Op.Softmax _,
                    Op.AttentionOutput _,
                    Op.GatedMlp _,
                    Op.Scale _ -> single.add(trained.op());
        }
    }

    /** Copies a layer of {@code stack}, or an array that is one. */
    void take(String name, Argument<FloatArray> stack, Argument<IntArray> of, PlannedArray<FloatArray> x, int width) {
        in.define(x);
        in.task(name, (long) rows * width).calls(RowKernels::takeRows, stack, of, step, x, value(rows), value(width));
    }

    /** Copies to a layer of {@code stack}. */
    void put(
            String name,
            Argument<FloatArray> x,
            Argument<IntArray> of,
            Argument<FloatArray> stack,
            int above,
            int width) {
        in.task(name, (long) rows * width)
                .calls(RowKernels::putRows, x, of, step, stack, value(above), value(rows), value(width));
    }

    /** Whether something is done to a layer's sums. */
    private static boolean isFinished(Op.Linear op) {
        return op.bias().isPresent() || op.addsToOutput() || op.activation() != Activation.NONE;
    }

    private Argument<FloatArray> sums(Op.Linear op) {
        return in.scratch(SUMS, Math.multiplyExact((long) rows, op.output().width()));
    }

    private void linear(Op.Linear op, TrainedOp trained) {
        boolean inGroups = in.worksInGroups(LinearTileGroupKernels.GROUP);
        OpTasks.LinearSums sums = inGroups ? single.linearSums(op) : wholeSums(op);
        if (op.addsToOutput()) {
            Argument<FloatArray> before =
                    in.activation(op.output(), trained.before().get(op.output()));
            take(
                    op.name() + "Before",
                    before,
                    in.firstLayer(),
                    in.activation(op.output()),
                    op.weight().columns());
        }
        if (inGroups || isFinished(op)) {
            finish(op, sums);
        }
    }

    /** Sums in the place of what is to be done to them, or of the output where nothing is. */
    private OpTasks.LinearSums wholeSums(Op.Linear op) {
        Argument<FloatArray> x = in.activation(op.input());
        Argument<FloatArray> weight = in.matrix(op.weight()).floats();
        Argument<FloatArray> sums = isFinished(op) ? sums(op) : in.activation(op.output());
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        in.task(op.name() + "Sums", LinearTileKernels.tileProductsItems(rows, columns))
                .calls(
                        LinearTileKernels::tileProducts,
                        x,
                        weight,
                        layer,
                        step,
                        sums,
                        value(rows),
                        value(inputs),
                        value(columns));
        return new OpTasks.LinearSums(sums, WHOLE_SUMS);
    }

    private void finish(Op.Linear op, OpTasks.LinearSums sums) {
        switch (op.activation()) {
            case NONE -> finish(op.name(), op, sums, Activation.NONE, in.activation(op.output()));
            case GELU_TANH -> {
                finish(op.name() + "Kept", op, sums, Activation.NONE, arrays.sumOf(op));
                finish(op.name(), op, sums, Activation.GELU_TANH, in.activation(op.output()));
            }
            case SILU, GELU_ERF -> throw new IllegalArgumentException(op.activation() + " has no gradient");
        }
    }

    private void finish(
            String name, Op.Linear op, OpTasks.LinearSums sums, Activation activation, Argument<FloatArray> out) {
        single.finish(name, op, sums.array(), sums.parts(), activation, out);
    }
}
