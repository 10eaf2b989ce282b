package io.github.tornadotransformers.taskgraphs.graphs;

import static io.github.tornadotransformers.taskgraphs.memory.GroupContext.CONTEXT;
import static io.github.tornadotransformers.taskgraphs.memory.KernelArguments.cap;
import static io.github.tornadotransformers.taskgraphs.memory.KernelArguments.inverseCap;
import static io.github.tornadotransformers.taskgraphs.memory.KernelArguments.window;
import static io.github.tornadotransformers.taskgraphs.memory.Scalar.value;

import io.github.tornadotransformers.kernels.AttentionGroupKernels;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.DeviceCache;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** The tasks of attention as a whole, page by page, on a device that works in groups: scores, exponentials, outputs of pages, their sums. */
final class PageAttentionTasks {
    private final TaskBuilder in;
    private final OpTasks single;

    PageAttentionTasks(TaskBuilder in, OpTasks single) {
        this.in = in;
        this.single = single;
    }

    boolean takes(AttentionShape shape) {
        return in.worksInGroups(AttentionGroupKernels.GROUP) && AttentionGroupKernels.takes(shape.headDim());
    }

    /** Exponentials replace scores, and are not divided: no array has probabilities. */
    void add(Op.AttentionScores scores, Op.Softmax softmax, Op.AttentionOutput output) {
        Argument<FloatArray> maxima = single.maxima(softmax);
        Argument<FloatArray> totals = single.exponentialSums(softmax);
        scores(scores, maxima);
        single.groupExponentials(softmax.name(), softmax, maxima, totals);
        outputs(output, totals);
    }

    private void scores(Op.AttentionScores op, Argument<FloatArray> maxima) {
        Argument<IntArray> cached = in.cacheLayer();
        Argument<IntArray> step = in.step();
        Argument<FloatArray> qkv = in.activation(op.qkv());
        DeviceCache keys = in.keys();
        AttentionShape shape = op.shape();
        in.task(op.name(), items(shape))
                .calls(
                        AttentionGroupKernels::scaledScores,
                        CONTEXT,
                        qkv,
                        keys.floats(),
                        keys.shorts(),
                        keys.powers(),
                        cached,
                        step,
                        in.activation(op.output()),
                        maxima,
                        value(shape.heads()),
                        value(shape.headsPerKvHead()),
                        value(shape.headDim()),
                        value(shape.contextLength()),
                        in.pages(),
                        keys.format(),
                        value(window(shape)),
                        value(op.scaling().factor()),
                        value(cap(op.scaling())),
                        value(inverseCap(op.scaling())),
                        in.math());
    }

    private void outputs(Op.AttentionOutput op, Argument<FloatArray> totals) {
        Argument<IntArray> cached = in.cacheLayer();
        Argument<IntArray> step = in.step();
        Argument<FloatArray> sums = single.outputSums(op);
        DeviceCache values = in.values();
        AttentionShape shape = op.shape();
        in.task(op.name() + "Slices", items(shape))
                .calls(
                        AttentionGroupKernels::sliceOutputs,
                        CONTEXT,
                        in.activation(op.probabilities()),
                        totals,
                        values.floats(),
                        values.shorts(),
                        values.powers(),
                        cached,
                        step,
                        sums,
                        value(shape.heads()),
                        value(shape.headsPerKvHead()),
                        value(shape.headDim()),
                        value(shape.contextLength()),
                        in.pages(),
                        values.format(),
                        value(window(shape)),
                        in.math());
        in.task(op.name(), AttentionGroupKernels.finishItems(in.rows(), shape.queryWidth()))
                .calls(
                        AttentionGroupKernels::finishOutputs,
                        CONTEXT,
                        sums,
                        step,
                        in.activation(op.output()),
                        value(shape.heads()),
                        value(shape.headDim()),
                        value(shape.contextLength()),
                        value(window(shape)));
    }

    private long items(AttentionShape shape) {
        return AttentionGroupKernels.items(in.rows(), shape.heads(), shape.headsPerKvHead(), shape.contextLength());
    }
}
