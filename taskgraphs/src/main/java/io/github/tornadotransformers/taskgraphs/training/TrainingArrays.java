package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.kernels.ElementGradientKernels;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.graphs.TaskBuilder;
import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.NamedKey;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The arrays that only training has. */
final class TrainingArrays {
    /** The ids that each row's logits should have led to. */
    static final NamedKey<IntArray> TARGETS = NamedKey.ints("targets");

    /**
     * The layer whose stream is read, of all layers; {@link io.github.tornadotransformers.taskgraphs.graphs.ControlKeys#LAYER} is
     * that of weights, within its group.
     */
    static final NamedKey<IntArray> DEPTH = NamedKey.ints("depth");

    /** The residual stream before each layer, and after the last. */
    static final NamedKey<FloatArray> STREAM = NamedKey.floats("residual streams");

    /** What gradients of losses are multiplied with. */
    static final NamedKey<FloatArray> SCALE = NamedKey.floats("scale");

    /** What gradients are multiplied with before they are added to weights. */
    static final NamedKey<FloatArray> FACTOR = NamedKey.floats("factor");

    /** What losses are computed from. */
    static final NamedKey<FloatArray> TOTALS = NamedKey.floats("totals");

    private final TaskBuilder in;

    TrainingArrays(TaskBuilder in) {
        this.in = in;
    }

    Argument<IntArray> targets() {
        return new PlannedArray<>(TARGETS, in.rows());
    }

    Argument<IntArray> depth() {
        return new PlannedArray<>(DEPTH, 1);
    }

    PlannedArray<FloatArray> stream(Program program) {
        return in.rowsOf(STREAM, (program.layers() + 1L) * program.residual().width());
    }

    Argument<FloatArray> scale() {
        return new PlannedArray<>(SCALE, 1);
    }

    Argument<FloatArray> factor() {
        return new PlannedArray<>(FACTOR, 1);
    }

    Argument<FloatArray> totals() {
        return in.rowsOf(TOTALS, ElementGradientKernels.TOTALS);
    }

    PlannedArray<FloatArray> gradient(Buffer buffer) {
        return in.rowsOf(new BufferGradientKey(buffer), buffer.width());
    }

    Argument<FloatArray> gradient(Weight weight) {
        return new WeightGradientKey(weight, in.layersOf(weight)).planned();
    }

    /** What a layer's activation is applied to. */
    PlannedArray<FloatArray> sumOf(Op.Linear linear) {
        return in.scratch(
                "sum of " + linear.name(),
                Math.multiplyExact((long) in.rows(), linear.output().width()));
    }
}
