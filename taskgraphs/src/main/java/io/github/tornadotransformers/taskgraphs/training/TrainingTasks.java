package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.kernels.LinearKernels;
import io.github.tornadotransformers.kernels.LinearTileKernels;
import io.github.tornadotransformers.kernels.RowKernels;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.taskgraphs.graphs.OpTasks;
import io.github.tornadotransformers.taskgraphs.graphs.TaskBuilder;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import java.util.List;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The tasks of an Op of a whole sequence, which leave in arrays of their own what its gradient will need. */
final class TrainingTasks {
    /** Sums come added up, not as slices. */
    private static final int WHOLE_SUMS = 1;

    private final TaskBuilder in;
    private final OpTasks single;
    private final int rows;
    private final IntArray step;
    private final IntArray layer;

    TrainingTasks(TaskBuilder in) {
        this.in = in;
        this.single = new OpTasks(in);
        this.rows = in.rows();
        this.step = in.step();
        this.layer = in.layer();
    }

    void add(TrainedOp trained) {
        in.name(trained.after());
        switch (trained.op()) {
            case Op.Linear linear -> linear(linear, trained);
            case Op.SelectRows select -> {
                FloatArray x = in.activation(select.input());
                FloatArray out = in.activation(select.output());
                take(select.name(), x, in.firstLayer(), out, select.output().width());
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
    void take(String name, FloatArray stack, IntArray of, FloatArray x, int width) {
        in.define(x);
        in.task(
                name,
                (long) rows * width,
                2,
                List.of(stack, of, step, x),
                (graph, id) -> graph.task(id, RowKernels::takeRows, stack, of, step, x, rows, width));
    }

    /** Copies to a layer of {@code stack}. */
    void put(String name, FloatArray x, IntArray of, FloatArray stack, int above, int width) {
        in.task(
                name,
                (long) rows * width,
                3,
                List.of(x, of, step, stack),
                (graph, id) -> graph.task(id, RowKernels::putRows, x, of, step, stack, above, rows, width));
    }

    /** Whether something is done to a layer's sums. */
    static boolean isFinished(Op.Linear op) {
        return op.bias().isPresent() || op.addsToOutput() || op.activation() != Activation.NONE;
    }

    private void linear(Op.Linear op, TrainedOp trained) {
        FloatArray x = in.activation(op.input());
        FloatArray weight = in.matrix(op.weight()).floats();
        FloatArray sums = isFinished(op) ? in.scratch(MemoryPlan.SUMS) : in.activation(op.output());
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        in.task(
                op.name() + "Sums",
                LinearTileKernels.tileProductsItems(rows, columns),
                3,
                List.of(x, weight, layer, step, sums),
                (graph, id) -> graph.task(
                        id, LinearTileKernels::tileProducts, x, weight, layer, step, sums, rows, inputs, columns));
        if (op.addsToOutput()) {
            FloatArray before = in.scratch(trained.before().get(op.output()));
            take(op.name() + "Before", before, in.firstLayer(), in.activation(op.output()), columns);
        }
        if (isFinished(op)) {
            finish(op, sums);
        }
    }

    private void finish(Op.Linear op, FloatArray sums) {
        switch (op.activation()) {
            case NONE ->
                single.finish(op.name(), op, sums, WHOLE_SUMS, LinearKernels.NO_ACTIVATION, in.activation(op.output()));
            case GELU_TANH -> {
                single.finish(
                        op.name() + "Kept",
                        op,
                        sums,
                        WHOLE_SUMS,
                        LinearKernels.NO_ACTIVATION,
                        in.scratch(TrainedOp.sumOf(op)));
                single.finish(op.name(), op, sums, WHOLE_SUMS, LinearKernels.GELU_TANH, in.activation(op.output()));
            }
            case SILU, GELU_ERF -> throw new IllegalArgumentException(op.activation() + " has no gradient");
        }
    }
}
