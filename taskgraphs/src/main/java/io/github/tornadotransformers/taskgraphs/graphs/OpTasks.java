package io.github.tornadotransformers.taskgraphs.graphs;

import static io.github.tornadotransformers.taskgraphs.memory.GroupContext.CONTEXT;
import static io.github.tornadotransformers.taskgraphs.memory.KernelArguments.activation;
import static io.github.tornadotransformers.taskgraphs.memory.KernelArguments.cap;
import static io.github.tornadotransformers.taskgraphs.memory.KernelArguments.inverseCap;
import static io.github.tornadotransformers.taskgraphs.memory.KernelArguments.window;
import static io.github.tornadotransformers.taskgraphs.memory.Scalar.flag;
import static io.github.tornadotransformers.taskgraphs.memory.Scalar.value;

import io.github.tornadotransformers.kernels.AttentionKernels;
import io.github.tornadotransformers.kernels.CacheKernels;
import io.github.tornadotransformers.kernels.EmbeddingKernels;
import io.github.tornadotransformers.kernels.GatedMlpKernels;
import io.github.tornadotransformers.kernels.LikeliestKernels;
import io.github.tornadotransformers.kernels.LinearGroupKernels;
import io.github.tornadotransformers.kernels.LinearKernels;
import io.github.tornadotransformers.kernels.LinearRowKernels;
import io.github.tornadotransformers.kernels.LinearTileGroupKernels;
import io.github.tornadotransformers.kernels.LinearTileKernels;
import io.github.tornadotransformers.kernels.NormGroupKernels;
import io.github.tornadotransformers.kernels.NormKernels;
import io.github.tornadotransformers.kernels.RotaryKernels;
import io.github.tornadotransformers.kernels.RowKernels;
import io.github.tornadotransformers.kernels.RowSteps;
import io.github.tornadotransformers.kernels.ScaleKernels;
import io.github.tornadotransformers.kernels.Slices;
import io.github.tornadotransformers.kernels.SoftmaxGroupKernels;
import io.github.tornadotransformers.kernels.StoredFormat;
import io.github.tornadotransformers.kernels.StoredKernels;
import io.github.tornadotransformers.kernels.StoredTileGroupKernels;
import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Groups;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.DeviceCache;
import io.github.tornadotransformers.taskgraphs.memory.DeviceColumns;
import io.github.tornadotransformers.taskgraphs.memory.DeviceMatrix;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import io.github.tornadotransformers.taskgraphs.memory.Scalar;
import java.util.List;
import java.util.Optional;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The tasks of an Op. An Op that sums has a task for its slices, and one, named like the Op, that adds them up; a linear layer of a single row has one task on a GPU.
 *
 * <p>A new Op gets a case in {@link #addTasks}; memory that its tasks need beside its output is what they ask for.
 */
public final class OpTasks {
    /** Slice sums of a linear layer. */
    private static final String SUMS = "sums";

    /** Slice sums of a norm: of elements or their squares, and of squared deviations. */
    private static final String NORM_SUMS = "norm sums";

    private static final String NORM_DEVIATIONS = "norm deviations";

    /** Slice results of attention. */
    private static final String MAXIMA = "maxima";

    private static final String EXPONENTIAL_SUMS = "exponential sums";
    private static final String OUTPUT_SUMS = "output sums";

    /** Of parts of the logits. */
    private static final String LARGEST = "largest logits";

    private final TaskBuilder in;
    private final int rows;
    private final Argument<IntArray> step;
    private final Argument<IntArray> layer;
    private final Scalar<Integer> math;

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
            case Op.GatedMlp mlp -> gatedMlp(mlp);
            case Op.Scale scale -> scale(scale);
            case Op.SelectRows select -> selectRows(select);
        }
    }

    private void tokenEmbedding(Op.TokenEmbedding op) {
        if (in.isStored(op.table())) {
            storedTokenEmbedding(op);
            return;
        }
        DeviceMatrix table = in.matrix(op.table());
        Argument<IntArray> tokens = in.tokens();
        Argument<FloatArray> out = in.activation(op.output());
        int width = op.table().rows();
        int vocabSize = op.table().columns();
        in.task(op.name(), (long) rows * width)
                .calls(
                        EmbeddingKernels::lookUpTokens,
                        tokens,
                        table.floats(),
                        table.words(),
                        table.scales(),
                        table.powers(),
                        step,
                        out,
                        table.format(),
                        value(rows),
                        value(width),
                        value(vocabSize),
                        value(op.scale()));
    }

    /** The columns of a table are tokens, and one tensor's. */
    private void storedTokenEmbedding(Op.TokenEmbedding op) {
        DeviceColumns table = in.columns(op.table()).getFirst();
        Argument<IntArray> tokens = in.tokens();
        Argument<FloatArray> out = in.activation(op.output());
        int width = op.table().rows();
        in.task(op.name(), (long) rows * width)
                .calls(
                        StoredKernels::lookUpTokens,
                        tokens,
                        table.floats(),
                        table.words(),
                        table.powers(),
                        table.places(),
                        step,
                        out,
                        table.format(),
                        value(rows),
                        value(width),
                        table.columns(),
                        value(op.scale()));
    }

    private void positionEmbedding(Op.PositionEmbedding op) {
        Argument<FloatArray> table = in.vector(op.table());
        Argument<FloatArray> out = in.activation(op.output());
        int width = op.output().width();
        in.task(op.name(), (long) rows * width)
                .calls(EmbeddingKernels::addPositions, table, step, out, value(rows), value(width));
    }

    private void layerNorm(Op.LayerNorm op) {
        if (in.worksInGroups(NormGroupKernels.GROUP)) {
            layerNormInGroups(op);
        } else {
            layerNormOfSlices(op);
        }
    }

    private void layerNormInGroups(Op.LayerNorm op) {
        Argument<FloatArray> x = in.activation(op.input());
        Argument<FloatArray> weight = in.vector(op.weight());
        Argument<FloatArray> bias = in.vector(op.bias());
        Argument<FloatArray> out = in.activation(op.output());
        in.task(op.name(), (long) rows * NormGroupKernels.GROUP)
                .calls(
                        NormGroupKernels::layerNorm,
                        CONTEXT,
                        x,
                        weight,
                        bias,
                        layer,
                        step,
                        out,
                        value(op.output().width()),
                        value(op.epsilon()),
                        math);
    }

    private void layerNormOfSlices(Op.LayerNorm op) {
        int width = op.output().width();
        long slices = (long) rows * Slices.count(width);
        Argument<FloatArray> x = in.activation(op.input());
        Argument<FloatArray> sums = in.scratch(NORM_SUMS, slices);
        Argument<FloatArray> deviations = in.scratch(NORM_DEVIATIONS, slices);
        Argument<FloatArray> weight = in.vector(op.weight());
        Argument<FloatArray> bias = in.vector(op.bias());
        Argument<FloatArray> out = in.activation(op.output());
        in.task(op.name() + "Sums", slices).calls(NormKernels::sliceSums, x, step, sums, value(rows), value(width));
        in.task(op.name() + "Deviations", slices)
                .calls(NormKernels::sliceDeviations, x, sums, step, deviations, value(rows), value(width), math);
        in.task(op.name(), (long) rows * width)
                .calls(
                        NormKernels::layerNorm,
                        x,
                        sums,
                        deviations,
                        weight,
                        bias,
                        layer,
                        step,
                        out,
                        value(rows),
                        value(width),
                        value(op.epsilon()),
                        math);
    }

    private void rmsNorm(Op.RmsNorm op) {
        if (op.groups().count() == 1 && !op.isInPlace() && in.worksInGroups(NormGroupKernels.GROUP)) {
            rmsNormInGroups(op);
        } else {
            rmsNormOfSlices(op);
        }
    }

    private void rmsNormInGroups(Op.RmsNorm op) {
        Argument<FloatArray> x = in.activation(op.input());
        Argument<FloatArray> weight = in.vector(op.weight());
        Argument<FloatArray> out = in.activation(op.output());
        in.task(op.name(), (long) rows * NormGroupKernels.GROUP)
                .calls(
                        NormGroupKernels::rmsNorm,
                        CONTEXT,
                        x,
                        weight,
                        layer,
                        step,
                        out,
                        value(op.groups().size()),
                        value(op.epsilon()),
                        flag(op.residual().adds()),
                        value(op.residual().scale()),
                        math);
    }

    private void rmsNormOfSlices(Op.RmsNorm op) {
        Groups groups = op.groups();
        Argument<FloatArray> x = in.activation(op.input());
        long slices = (long) rows * groups.count() * Slices.count(groups.size());
        Argument<FloatArray> squares = in.scratch(NORM_SUMS, slices);
        in.task(op.name() + "Squares", slices)
                .calls(
                        NormKernels::sliceSquares,
                        x,
                        step,
                        squares,
                        value(rows),
                        value(groups.rowWidth()),
                        value(groups.firstColumn()),
                        value(groups.count()),
                        value(groups.size()));
        Argument<FloatArray> weight = in.vector(op.weight());
        TaskCall task = in.task(op.name(), (long) rows * groups.count() * groups.size());
        if (op.isInPlace()) {
            task.calls(
                    NormKernels::rmsNormInPlace,
                    squares,
                    weight,
                    layer,
                    step,
                    x,
                    value(rows),
                    value(groups.rowWidth()),
                    value(groups.firstColumn()),
                    value(groups.count()),
                    value(groups.size()),
                    value(op.epsilon()),
                    math);
        } else {
            task.calls(
                    NormKernels::rmsNorm,
                    x,
                    squares,
                    weight,
                    layer,
                    step,
                    in.activation(op.output()),
                    value(rows),
                    value(groups.count()),
                    value(groups.size()),
                    value(op.epsilon()),
                    flag(op.residual().adds()),
                    value(op.residual().scale()),
                    math);
        }
    }

    private void linear(Op.Linear op) {
        RowInput input = RowInput.plain(in.activation(op.input()));
        if (takesRow(op, RowSteps.STORES)) {
            rowProduct(op, input);
            return;
        }
        LinearSums sums = sumsOfSlices(op);
        finish(op.name(), op, sums.array(), sums.parts(), op.activation(), in.activation(op.output()));
    }

    /**
     * What follows the sums of a linear layer: bias, activation, residual.
     *
     * @param sums {@code [rows][slices][columns]}
     * @param activation instead of the Op's own
     */
    public void finish(
            String name,
            Op.Linear op,
            Argument<FloatArray> sums,
            int slices,
            Activation activation,
            Argument<FloatArray> out) {
        Argument<FloatArray> bias = in.bias(op.bias());
        int columns = op.weight().columns();
        in.task(name, (long) rows * columns)
                .calls(
                        LinearKernels::finish,
                        sums,
                        bias,
                        layer,
                        step,
                        out,
                        value(rows),
                        value(slices),
                        value(columns),
                        flag(op.bias().isPresent()),
                        value(activation(activation)),
                        flag(op.addsToOutput()),
                        value(op.residual().scale()),
                        math);
    }

    /** Whether a linear layer of a single row is one task for each format of its columns, whatever it does with its result. */
    boolean takesRow(Op.Linear op, int ending) {
        if (rows > 1 || !in.worksInGroups(LinearRowKernels.LEAST_GROUP)) {
            return false;
        }
        List<DeviceColumns> runs = runs(op.weight());
        boolean areKnown = !in.isStored(op.weight()) || runs.stream().allMatch(OpTasks::isOfBlocks);
        boolean areTogether = ending != RowSteps.GATES || runs.size() == 1;
        return areKnown
                && areTogether
                && runs.stream()
                        .allMatch(run -> LinearRowKernels.takes(
                                run.format().value(), run.columns().value(), ending));
    }

    /** A linear layer of a single row, with the norm before it. */
    void rowProduct(Op.Linear op, RowInput input) {
        int ending = op.addsToOutput() ? RowSteps.ADDS : RowSteps.STORES;
        Argument<FloatArray> out = in.activation(op.output());
        rowProduct(op.name(), op, input, op.bias(), op.activation(), ending, out);
    }

    /**
     * A linear layer of a single row in one task, or one for neighbouring columns of each format.
     *
     * @param bias instead of the Op's own
     * @param activation instead of the Op's own
     * @param ending of {@link RowSteps}
     */
    void rowProduct(
            String name,
            Op.Linear op,
            RowInput input,
            Optional<Weight> bias,
            Activation activation,
            int ending,
            Argument<FloatArray> out) {
        int steps = RowSteps.of(input.norm(), bias.isPresent(), activation(activation), ending);
        List<DeviceColumns> runs = runs(op.weight());
        for (int index = 0; index < runs.size(); index++) {
            rowProduct(runName(name, runs, index), op, input, runs.get(index), in.bias(bias), steps, out);
        }
    }

    /** Neighbouring columns of one format each: all of them, unless a matrix's tensors are kept as they are stored. */
    private List<DeviceColumns> runs(Weight weight) {
        if (in.isStored(weight)) {
            return in.columns(weight);
        }
        DeviceMatrix matrix = in.matrix(weight);
        Argument<FloatArray> floats = switch (matrix.format().value()) {
            case WeightFormat.F32 -> matrix.floats();
            case WeightFormat.INT8 -> matrix.scales();
            default -> matrix.powers();
        };
        return List.of(new DeviceColumns(
                value(0),
                value(weight.columns()),
                floats,
                matrix.words(),
                matrix.powers(),
                DeviceModel.noInts(),
                matrix.format()));
    }

    /** What a task for neighbouring columns of one format is called. */
    private static String runName(String name, List<DeviceColumns> runs, int index) {
        return name + (runs.size() == 1 ? "" : index);
    }

    private void rowProduct(
            String name,
            Op.Linear op,
            RowInput input,
            DeviceColumns run,
            Argument<FloatArray> bias,
            int steps,
            Argument<FloatArray> out) {
        int format = run.format().value();
        int inputs = op.weight().rows();
        int columns = run.columns().value();
        int ending = RowSteps.ending(steps);
        int group = LinearRowKernels.group(format, inputs, columns, ending, in.mostGroupItems());
        in.task(name, LinearRowKernels.items(format, columns, ending, group), group)
                .calls(
                        LinearRowKernels::product,
                        CONTEXT,
                        input.x(),
                        input.weight(),
                        input.bias(),
                        run.floats(),
                        run.words(),
                        run.places(),
                        bias,
                        layer,
                        out,
                        run.format(),
                        value(inputs),
                        run.firstColumn(),
                        run.columns(),
                        value(op.weight().columns()),
                        value(group),
                        value(input.epsilon()),
                        value(steps),
                        value(op.residual().scale()),
                        math);
    }

    /**
     * What a linear layer's tasks for sums leave.
     *
     * @param array {@code [rows][parts][columns]}
     * @param parts sums of a product, to be added up: one for each slice, or the only one
     */
    public record LinearSums(Argument<FloatArray> array, int parts) {}

    /** The sums of a linear layer, or what a single row's come to without its bias. */
    LinearSums linearSums(Op.Linear op, RowInput input) {
        if (takesRow(op, RowSteps.STORES)) {
            Argument<FloatArray> sums = in.scratch(SUMS, op.weight().columns());
            rowProduct(op.name() + "Sums", op, input, Optional.empty(), Activation.NONE, RowSteps.STORES, sums);
            return new LinearSums(sums, 1);
        }
        return sumsOfSlices(op);
    }

    /** The sums of a linear layer. */
    public LinearSums linearSums(Op.Linear op) {
        return linearSums(op, RowInput.plain(in.activation(op.input())));
    }

    private LinearSums sumsOfSlices(Op.Linear op) {
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        boolean isStored = in.isStored(op.weight());
        boolean inTiles = rows > 1 && in.worksInGroups(LinearTileGroupKernels.GROUP);
        int parts = inTiles ? partsOfTiles(op, isStored) : Slices.count(inputs);
        Argument<FloatArray> sums = in.scratch(SUMS, Math.multiplyExact((long) rows * parts, columns));
        if (isStored) {
            storedSums(op, sums, parts);
        } else if (inTiles) {
            groupTileSums(op, sums, parts);
        } else if (rows > 1) {
            tileSums(op, sums);
        } else if (in.worksInGroups(LinearGroupKernels.GROUP)) {
            groupSums(op, sums);
        } else {
            sliceSums(op, sums);
        }
        return new LinearSums(sums, parts);
    }

    /** What tiles leave of a product: as many sums for all its columns, of whatever formats they are. */
    private int partsOfTiles(Op.Linear op, boolean isStored) {
        int inputs = op.weight().rows();
        if (!isStored) {
            return LinearTileGroupKernels.parts(rows, inputs, op.weight().columns());
        }
        return in.columns(op.weight()).stream()
                .mapToInt(run -> isOfBlocks(run)
                        ? LinearTileGroupKernels.parts(
                                rows, inputs, run.columns().value())
                        : Slices.count(inputs))
                .max()
                .orElseThrow();
    }

    private static boolean isOfBlocks(DeviceColumns run) {
        return StoredFormat.isBlocks(run.format().value());
    }

    /** A task for neighbouring columns of one format. */
    private void storedSums(Op.Linear op, Argument<FloatArray> sums, int parts) {
        List<DeviceColumns> runs = in.columns(op.weight());
        for (int index = 0; index < runs.size(); index++) {
            String name = runName(op.name() + "Slices", runs, index);
            DeviceColumns run = runs.get(index);
            if (rows == 1) {
                storedSliceSums(name, op, run, sums);
            } else if (isOfBlocks(run) && in.worksInGroups(StoredTileGroupKernels.GROUP)) {
                storedTileGroupSums(name, op, run, sums, parts);
            } else {
                storedTileSums(name, op, run, sums);
            }
        }
    }

    private void storedTileGroupSums(
            String name, Op.Linear op, DeviceColumns run, Argument<FloatArray> sums, int parts) {
        Argument<FloatArray> x = in.activation(op.input());
        int columns = run.columns().value();
        in.task(name, StoredTileGroupKernels.items(rows, parts, columns))
                .calls(
                        StoredTileGroupKernels::tileSums,
                        CONTEXT,
                        x,
                        run.floats(),
                        run.words(),
                        run.places(),
                        layer,
                        step,
                        sums,
                        run.format(),
                        value(LinearTileGroupKernels.tileRows(rows)),
                        value(rows),
                        value(parts),
                        value(op.weight().rows()),
                        run.firstColumn(),
                        run.columns(),
                        value(op.weight().columns()));
    }

    private void storedSliceSums(String name, Op.Linear op, DeviceColumns run, Argument<FloatArray> sums) {
        Argument<FloatArray> x = in.activation(op.input());
        int inputs = op.weight().rows();
        in.task(name, (long) Slices.count(inputs) * run.columns().value())
                .calls(
                        StoredKernels::sliceSums,
                        x,
                        run.floats(),
                        run.words(),
                        run.powers(),
                        run.places(),
                        layer,
                        sums,
                        run.format(),
                        value(inputs),
                        run.firstColumn(),
                        run.columns(),
                        value(op.weight().columns()));
    }

    private void storedTileSums(String name, Op.Linear op, DeviceColumns run, Argument<FloatArray> sums) {
        Argument<FloatArray> x = in.activation(op.input());
        int inputs = op.weight().rows();
        in.task(name, StoredKernels.tileSumsItems(rows, inputs, run.columns().value()))
                .calls(
                        StoredKernels::tileSums,
                        x,
                        run.floats(),
                        run.words(),
                        run.powers(),
                        run.places(),
                        layer,
                        step,
                        sums,
                        run.format(),
                        value(rows),
                        value(inputs),
                        run.firstColumn(),
                        run.columns(),
                        value(op.weight().columns()));
    }

    private void groupSums(Op.Linear op, Argument<FloatArray> sums) {
        Argument<FloatArray> x = in.activation(op.input());
        DeviceMatrix weight = in.matrix(op.weight());
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        in.task(op.name() + "Slices", LinearGroupKernels.items(inputs, columns))
                .calls(
                        LinearGroupKernels::sliceSumsOfElements,
                        CONTEXT,
                        x,
                        weight.words(),
                        weight.scales(),
                        weight.powers(),
                        layer,
                        sums,
                        weight.format(),
                        value(inputs),
                        value(columns));
    }

    private void sliceSums(Op.Linear op, Argument<FloatArray> sums) {
        Argument<FloatArray> x = in.activation(op.input());
        DeviceMatrix weight = in.matrix(op.weight());
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        long items = (long) Slices.count(inputs) * columns;
        in.task(op.name() + "Slices", items)
                .calls(
                        LinearKernels::sliceSums,
                        x,
                        weight.floats(),
                        weight.words(),
                        weight.scales(),
                        weight.powers(),
                        layer,
                        sums,
                        weight.format(),
                        value(inputs),
                        value(columns));
    }

    private void tileSums(Op.Linear op, Argument<FloatArray> sums) {
        Argument<FloatArray> x = in.activation(op.input());
        DeviceMatrix weight = in.matrix(op.weight());
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        long items = LinearTileKernels.tileSumsItems(rows, inputs, columns);
        in.task(op.name() + "Slices", items)
                .calls(
                        LinearTileKernels::tileSums,
                        x,
                        weight.floats(),
                        weight.words(),
                        weight.scales(),
                        weight.powers(),
                        layer,
                        step,
                        sums,
                        weight.format(),
                        value(rows),
                        value(inputs),
                        value(columns));
    }

    private void groupTileSums(Op.Linear op, Argument<FloatArray> sums, int parts) {
        Argument<FloatArray> x = in.activation(op.input());
        DeviceMatrix weight = in.matrix(op.weight());
        int inputs = op.weight().rows();
        int columns = op.weight().columns();
        in.task(op.name() + "Slices", LinearTileGroupKernels.items(rows, inputs, columns))
                .calls(
                        LinearTileGroupKernels::tileProducts,
                        CONTEXT,
                        x,
                        weight.floats(),
                        weight.words(),
                        weight.scales(),
                        weight.powers(),
                        layer,
                        step,
                        sums,
                        value(LinearTileGroupKernels.SUMS),
                        weight.format(),
                        value(LinearTileGroupKernels.tileRows(rows)),
                        value(rows),
                        value(parts),
                        value(inputs),
                        value(columns));
    }

    private void rotary(Op.Rotary op) {
        Argument<FloatArray> angles = in.angles(op.table());
        Argument<FloatArray> qkv = in.activation(op.output());
        AttentionShape shape = op.shape();
        int pairs = op.table().pairs();
        long items = (long) rows * (shape.heads() + shape.kvHeads()) * pairs;
        in.task(op.name(), items)
                .calls(
                        RotaryKernels::rotatePairs,
                        angles,
                        step,
                        qkv,
                        value(rows),
                        value(shape.heads()),
                        value(shape.kvHeads()),
                        value(shape.headDim()),
                        value(pairs),
                        value(op.table().positions()));
    }

    private void cacheAppend(Op.CacheAppend op) {
        Argument<IntArray> cached = in.cacheLayer();
        Argument<FloatArray> qkv = in.activation(op.qkv());
        DeviceCache keys = in.keys();
        DeviceCache values = in.values();
        AttentionShape shape = op.shape();
        long items = (long) rows * shape.keyValueWidth();
        in.task(op.name(), items)
                .calls(
                        CacheKernels::append,
                        qkv,
                        cached,
                        step,
                        keys.floats(),
                        values.floats(),
                        keys.shorts(),
                        values.shorts(),
                        keys.bounds(),
                        value(rows),
                        value(shape.heads()),
                        value(shape.kvHeads()),
                        value(shape.headDim()),
                        in.pages(),
                        keys.format());
    }

    /**
     * Not of an Op: a page of the cache becomes what another is, in as many layers as there are.
     *
     * @param suffix of the tasks' names
     */
    void copyPages(String suffix, int layers) {
        copyPage("keys" + suffix, in.keys(), layers);
        copyPage("values" + suffix, in.values(), layers);
    }

    private void copyPage(String name, DeviceCache cache, int layers) {
        int size = in.pageSize();
        in.task(name, (long) layers * size)
                .calls(
                        CacheKernels::copyPage,
                        cache.floats(),
                        cache.shorts(),
                        new PlannedArray<>(ControlKeys.COPY, 2),
                        value(layers),
                        in.pages(),
                        value(size),
                        cache.format());
    }

    /** Not of an Op: which of each row's logits are the largest. */
    void likeliest(Buffer logits, Stage head) {
        Argument<FloatArray> x = in.activation(logits);
        long parts = (long) rows * LikeliestKernels.parts(logits.width());
        Argument<FloatArray> largest = in.scratch(LARGEST, parts);
        Argument<IntArray> indices = new PlannedArray<>(ControlKeys.likeliestOfParts(head), parts);
        in.task("likeliestOfParts", parts)
                .calls(LikeliestKernels::ofParts, x, step, largest, indices, value(rows), value(logits.width()));
        in.task("likeliest", (long) rows * LikeliestKernels.GROUP)
                .calls(
                        LikeliestKernels::ofAll,
                        CONTEXT,
                        x,
                        step,
                        largest,
                        indices,
                        new PlannedArray<>(ControlKeys.likeliest(head), LikeliestKernels.size(rows)),
                        value(logits.width()));
    }

    private void attentionScores(Op.AttentionScores op) {
        attentionScores(op, in.activation(op.output()));
    }

    void attentionScores(Op.AttentionScores op, Argument<FloatArray> scores) {
        Argument<IntArray> cached = in.cacheLayer();
        Argument<FloatArray> qkv = in.activation(op.qkv());
        DeviceCache keys = in.keys();
        AttentionShape shape = op.shape();
        long items = (long) rows * shape.scoresWidth();
        in.task(op.name(), items)
                .calls(
                        AttentionKernels::scaledScores,
                        qkv,
                        keys.floats(),
                        keys.shorts(),
                        keys.powers(),
                        cached,
                        step,
                        scores,
                        value(rows),
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
                        math);
    }

    private void softmax(Op.Softmax op) {
        Argument<FloatArray> scores = in.activation(op.output());
        int heads = op.shape().heads();
        int context = op.shape().contextLength();
        int window = window(op.shape());
        long slices = (long) rows * heads * Slices.count(context);
        Argument<FloatArray> maxima = maxima(op);
        Argument<FloatArray> sums = exponentialSums(op);
        in.task(op.name() + "Maxima", slices)
                .calls(
                        AttentionKernels::sliceMaxima,
                        scores,
                        step,
                        maxima,
                        value(rows),
                        value(heads),
                        value(context),
                        value(window));
        String name = op.name() + "Exponentials";
        if (in.worksInGroups(SoftmaxGroupKernels.GROUP)) {
            groupExponentials(name, op, maxima, sums);
        } else {
            in.task(name, slices)
                    .calls(
                            AttentionKernels::sliceExponentials,
                            scores,
                            maxima,
                            step,
                            sums,
                            value(rows),
                            value(heads),
                            value(context),
                            value(window),
                            math);
        }
        divideByTotals(op, sums);
    }

    /** Of scores, whose slices' maxima are known, by groups. */
    void groupExponentials(String name, Op.Softmax op, Argument<FloatArray> maxima, Argument<FloatArray> sums) {
        Argument<FloatArray> scores = in.activation(op.output());
        int heads = op.shape().heads();
        int context = op.shape().contextLength();
        in.task(name, (long) rows * heads * Slices.count(context) * SoftmaxGroupKernels.GROUP)
                .calls(
                        SoftmaxGroupKernels::sliceExponentials,
                        CONTEXT,
                        scores,
                        maxima,
                        step,
                        sums,
                        value(heads),
                        value(context),
                        value(window(op.shape())),
                        math);
    }

    /** The maxima of a softmax's slices. */
    Argument<FloatArray> maxima(Op.Softmax op) {
        int slices = Slices.count(op.shape().contextLength());
        return in.scratch(MAXIMA, (long) rows * op.shape().heads() * slices);
    }

    /** The sums of the slices of what attention puts out. */
    Argument<FloatArray> outputSums(Op.AttentionOutput op) {
        int slices = Slices.count(op.shape().contextLength());
        return in.scratch(
                OUTPUT_SUMS, Math.multiplyExact((long) rows * op.shape().queryWidth(), slices));
    }

    /** The sums of a softmax's slices. */
    Argument<FloatArray> exponentialSums(Op.Softmax op) {
        int slices = Slices.count(op.shape().contextLength());
        return in.scratch(EXPONENTIAL_SUMS, (long) rows * op.shape().heads() * slices);
    }

    /** The last task of a softmax: exponentials to probabilities. */
    void divideByTotals(Op.Softmax op, Argument<FloatArray> sums) {
        Argument<FloatArray> scores = in.activation(op.output());
        int heads = op.shape().heads();
        int context = op.shape().contextLength();
        in.task(op.name(), (long) rows * heads * context)
                .calls(
                        AttentionKernels::divideByTotals,
                        sums,
                        step,
                        scores,
                        value(rows),
                        value(heads),
                        value(context),
                        value(window(op.shape())),
                        math);
    }

    private void attentionOutput(Op.AttentionOutput op) {
        Argument<IntArray> cached = in.cacheLayer();
        Argument<FloatArray> probabilities = in.activation(op.probabilities());
        DeviceCache values = in.values();
        Argument<FloatArray> out = in.activation(op.output());
        AttentionShape shape = op.shape();
        int context = shape.contextLength();
        long width = (long) rows * shape.queryWidth();
        long slices = Math.multiplyExact(width, Slices.count(context));
        Argument<FloatArray> sums = outputSums(op);
        in.task(op.name() + "Slices", slices)
                .calls(
                        AttentionKernels::sliceOutputs,
                        probabilities,
                        values.floats(),
                        values.shorts(),
                        values.powers(),
                        cached,
                        step,
                        sums,
                        value(rows),
                        value(shape.heads()),
                        value(shape.headsPerKvHead()),
                        value(shape.headDim()),
                        value(context),
                        in.pages(),
                        values.format(),
                        value(window(shape)));
        in.task(op.name(), width)
                .calls(
                        AttentionKernels::finishOutputs,
                        sums,
                        step,
                        out,
                        value(rows),
                        value(shape.heads()),
                        value(shape.headDim()),
                        value(context),
                        value(window(shape)));
    }

    private void gatedMlp(Op.GatedMlp op) {
        Argument<FloatArray> gateUp = in.activation(op.gateUp());
        Argument<FloatArray> out = in.activation(op.output());
        int width = op.output().width();
        in.task(op.name(), (long) rows * width)
                .calls(
                        GatedMlpKernels::gatedMlp,
                        gateUp,
                        step,
                        out,
                        value(rows),
                        value(width),
                        value(activation(op.activation())),
                        math);
    }

    private void scale(Op.Scale op) {
        Argument<FloatArray> x = in.activation(op.output());
        int width = op.output().width();
        in.task(op.name(), (long) rows * width)
                .calls(
                        ScaleKernels::scale,
                        x,
                        step,
                        value(rows),
                        value(width),
                        value(op.scaling().factor()),
                        value(cap(op.scaling())),
                        value(inverseCap(op.scaling())),
                        math);
    }

    private void selectRows(Op.SelectRows op) {
        Argument<FloatArray> x = in.activation(op.input());
        Argument<FloatArray> out = in.activation(op.output());
        int width = op.output().width();
        in.task(op.name(), (long) rows * width).calls(RowKernels::copyRows, x, step, out, value(rows), value(width));
    }
}
