package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.kernels.DescentKernels;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.graphs.Residency;
import io.github.tornadotransformers.taskgraphs.graphs.StageGraph;
import io.github.tornadotransformers.taskgraphs.graphs.TaskBuilder;
import io.github.tornadotransformers.taskgraphs.memory.ArrayPlan;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.Stage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * The graphs of a training step, all in one plan, so that each array exists once on the device. A sequence runs {@code
 * embedding}, {@code block} for each layer, and {@code head}, which leaves what its loss is computed from; on the way back
 * {@code headGradients}, for each layer from the last one {@code blockGradients}, and {@code embeddingGradients}.
 *
 * <p>The block takes the residual stream before its layer from one array and puts that after it there, so that it can run
 * again on the way back: only the streams are kept for all layers, activations for one (Chen et al. 2016, arXiv:1604.06174).
 */
final class TrainingGraphs {
    private static final int ONE = 1;

    private final DeviceModel model;
    private final Program program;
    private final DeviceArrays arrays;
    private final int rows;
    private final StageGraph begin;
    private final StageGraph embedding;
    private final List<StageGraph> blocks = new ArrayList<>();
    private final StageGraph head;
    private final StageGraph headGradients;
    private final List<StageGraph> blockGradients = new ArrayList<>();
    private final StageGraph embeddingGradients;
    private final StageGraph descend;

    TrainingGraphs(DeviceModel model) {
        this.model = model;
        this.program = model.program();
        this.arrays = model.arrays();
        this.rows = TrainingMemoryPlan.rows(program);
        embedding = graph("embedding", this::addEmbedding);
        for (int group = 0; group < arrays.groups().count(); group++) {
            String suffix = arrays.groups().suffix(group);
            blocks.add(graph("block" + suffix, block(group), this::addBlock));
            blockGradients.add(graph("blockGradients" + suffix, block(group), this::addBlockGradients));
        }
        head = graph("head", builder(Stage.TRAINING_HEAD), this::addHead);
        headGradients = graph("headGradients", builder(Stage.TRAINING_HEAD), this::addHeadGradients);
        embeddingGradients = graph("embeddingGradients", this::addEmbeddingGradients);
        descend = graph("descend", this::addDescend);
        begin = graph("begin", this::addBegin);
        link();
        settle();
    }

    /** Adds tasks. */
    @FunctionalInterface
    private interface Tasks {
        void addTo(TaskBuilder in);
    }

    private StageGraph graph(String name, Tasks tasks) {
        return graph(name, builder(Stage.TRAINING), tasks);
    }

    private static StageGraph graph(String name, TaskBuilder in, Tasks tasks) {
        tasks.addTo(in);
        return new StageGraph(name, in.tasks(), in.defined());
    }

    /** For what is not stacked. */
    private TaskBuilder builder(Stage stage) {
        return new TaskBuilder(model, stage, rows, arrays.layer(0), 0, "");
    }

    private TaskBuilder block(int group) {
        return new TaskBuilder(model, Stage.TRAINING, rows, arrays.ints(MemoryPlan.LAYER), group, "");
    }

    /** For every array of weights: one for each group of layers. */
    private void forEachWeight(WeightTask task) {
        for (Weight weight : program.weights()) {
            int groups = ArrayPlan.isStacked(weight) ? arrays.groups().count() : 1;
            for (int group = 0; group < groups; group++) {
                String name =
                        weight.name() + (groups == 1 ? "" : arrays.groups().suffix(group));
                task.add(name, arrays.vector(weight, group), arrays.gradient(weight, group));
            }
        }
    }

    /** Adds a task for an array of weights. */
    @FunctionalInterface
    private interface WeightTask {
        void add(String name, FloatArray weights, FloatArray gradients);
    }

    private void addBegin(TaskBuilder in) {
        forEachWeight((name, weights, gradients) -> {
            int size = gradients.getSize();
            in.task(
                    name,
                    size,
                    2,
                    List.of(weights, gradients),
                    (graph, id) -> graph.task(id, DescentKernels::begin, weights, gradients, ONE, size));
        });
        for (FloatArray shared : sharedOnTheWayBack()) {
            int size = shared.getSize();
            in.task(
                    "clear" + in.tasks().size(),
                    size,
                    2,
                    List.of(shared),
                    (graph, id) -> graph.task(id, DescentKernels::clear, shared, ONE, size));
        }
    }

    /**
     * What graphs on the way back hand on to one another, and no graph before has. As a block can run between them, which must
     * carry it then and always, it is there from the beginning.
     */
    private List<FloatArray> sharedOnTheWayBack() {
        Set<TornadoNativeArray> known = new HashSet<>();
        forEachWeight((_, weights, gradients) -> known.addAll(List.of(weights, gradients)));
        Stream.of(Stream.of(embedding, head), blocks.stream())
                .flatMap(each -> each)
                .forEach(graph -> known.addAll(graph.uses()));
        Set<FloatArray> found = new HashSet<>();
        List<FloatArray> shared = new ArrayList<>();
        Stream.of(Stream.of(headGradients, embeddingGradients), blockGradients.stream())
                .flatMap(each -> each)
                .flatMap(graph -> graph.uses().stream())
                .filter(array -> array instanceof FloatArray && !known.contains(array) && !arrays.isConstant(array))
                .map(FloatArray.class::cast)
                .filter(array -> !found.add(array))
                .filter(array -> !shared.contains(array))
                .forEach(shared::add);
        return shared;
    }

    private void addDescend(TaskBuilder in) {
        FloatArray factor = in.floats(TrainingMemoryPlan.FACTOR);
        forEachWeight((name, weights, gradients) -> {
            int size = gradients.getSize();
            in.task(
                    name,
                    size,
                    2,
                    List.of(factor, gradients, weights),
                    (graph, id) -> graph.task(id, DescentKernels::descend, factor, gradients, weights, ONE, size));
        });
    }

    private void addEmbedding(TaskBuilder in) {
        TrainingTasks tasks = new TrainingTasks(in);
        TrainedOp.of(program.embedding(), program.residual()).forEach(tasks::add);
        putStream(in, tasks, 0);
    }

    private void addBlock(TaskBuilder in) {
        TrainingTasks tasks = new TrainingTasks(in);
        takeStream(in, tasks);
        TrainedOp.of(program.kinds().getFirst().ops(), program.residual()).forEach(tasks::add);
        putStream(in, tasks, 1);
    }

    private void addHead(TaskBuilder in) {
        TrainingTasks tasks = new TrainingTasks(in);
        takeStream(in, tasks);
        TrainedOp.of(program.head(), program.residual()).forEach(tasks::add);
        GradientTasks.addTotals(in, program.logits());
    }

    private void takeStream(TaskBuilder in, TrainingTasks tasks) {
        int width = program.residual().width();
        FloatArray residual = in.scratch(program.residual().name());
        tasks.take(
                "takeStream", in.floats(TrainingMemoryPlan.STREAM), in.ints(TrainingMemoryPlan.DEPTH), residual, width);
    }

    private void putStream(TaskBuilder in, TrainingTasks tasks, int above) {
        int width = program.residual().width();
        FloatArray residual = in.activation(program.residual());
        tasks.put(
                "putStream",
                residual,
                in.ints(TrainingMemoryPlan.DEPTH),
                in.floats(TrainingMemoryPlan.STREAM),
                above,
                width);
    }

    private void addHeadGradients(TaskBuilder in) {
        List<TrainedOp> ops = TrainedOp.of(program.head(), program.residual());
        GradientTasks tasks = new GradientTasks(in, Set.of());
        in.name(ops.getLast().after());
        tasks.addLogits(program.logits());
        ops.reversed().forEach(tasks::add);
    }

    private void addBlockGradients(TaskBuilder in) {
        GradientTasks tasks = new GradientTasks(in, Set.of(program.residual()));
        TrainedOp.of(program.kinds().getFirst().ops(), program.residual())
                .reversed()
                .forEach(tasks::add);
    }

    private void addEmbeddingGradients(TaskBuilder in) {
        GradientTasks tasks = new GradientTasks(in, Set.of(program.residual()));
        TrainedOp.of(program.embedding(), program.residual()).reversed().forEach(tasks::add);
    }

    /** Takes the weights over, and clears gradients. */
    StageGraph begin() {
        return begin;
    }

    StageGraph embedding() {
        return embedding;
    }

    /** The layers of a group, forward; leaves the activations of the one that ran last. */
    StageGraph block(int group, boolean back) {
        return back ? blockGradients.get(group) : blocks.get(group);
    }

    StageGraph head() {
        return head;
    }

    StageGraph headGradients() {
        return headGradients;
    }

    StageGraph embeddingGradients() {
        return embeddingGradients;
    }

    /** Moves the weights against their gradients. */
    StageGraph descend() {
        return descend;
    }

    /** Every graph once, in an order in which they can first run. */
    List<StageGraph> graphs() {
        return Stream.of(
                        Stream.of(begin, embedding),
                        blocks.stream(),
                        Stream.of(head, headGradients),
                        blockGradients.reversed().stream(),
                        Stream.of(embeddingGradients, descend))
                .flatMap(each -> each)
                .toList();
    }

    private void link() {
        for (StageGraph last : List.of(begin, head, embeddingGradients, descend)) {
            List.of(begin, embedding, descend).forEach(last::precedes);
        }
        embedding.precedes(blocks.getFirst());
        blocks.getLast().precedes(head);
        head.precedes(headGradients);
        headGradients.precedes(blockGradients.getLast());
        blockGradients.getFirst().precedes(embeddingGradients);
        for (int group = 0; group < blocks.size(); group++) {
            StageGraph block = blocks.get(group);
            StageGraph back = blockGradients.get(group);
            block.precedes(back);
            if (arrays.groups().layersOf(group) > 1) {
                block.precedes(block);
                back.precedes(block);
            }
            if (group > 0) {
                blocks.get(group - 1).precedes(block);
                back.precedes(blocks.get(group - 1));
            }
        }
    }

    private void settle() {
        Residency residency = new Residency(graphs());
        Map<TornadoNativeArray, StageGraph> fed = fed();
        Set<TornadoNativeArray> perExecution =
                Set.of(arrays.ints(MemoryPlan.LAYER), arrays.ints(TrainingMemoryPlan.DEPTH));
        Set<TornadoNativeArray> used = new LinkedHashSet<>();
        graphs().forEach(graph -> used.addAll(graph.uses()));
        for (TornadoNativeArray array : used) {
            List<StageGraph> users = graphs().stream()
                    .filter(graph -> graph.uses().contains(array))
                    .toList();
            if (arrays.isConstant(array)) {
                users.forEach(graph -> graph.move(Movement.UPLOAD_ONCE, array, true));
            } else if (perExecution.contains(array)) {
                users.forEach(graph -> graph.move(Movement.UPLOAD_ALWAYS, array, true));
            } else if (fed.containsKey(array)) {
                residency.feed(array, Set.of(fed.get(array)));
            } else if (arrays.isTable(array)) {
                residency.upload(array);
            } else if (users.size() == 1) {
                users.getFirst().move(Movement.PERSIST, array, false);
            } else {
                residency.keep(array);
            }
        }
    }

    /** What comes from the host, and with which graph. */
    private Map<TornadoNativeArray, StageGraph> fed() {
        Map<TornadoNativeArray, StageGraph> fed = new HashMap<>();
        forEachWeight((_, weights, _) -> fed.put(weights, begin));
        fed.put(arrays.ints(MemoryPlan.TOKENS), embedding);
        fed.put(arrays.ints(MemoryPlan.STEP), embedding);
        fed.put(arrays.ints(TrainingMemoryPlan.TARGETS), head);
        fed.put(arrays.floats(TrainingMemoryPlan.SCALE), headGradients);
        fed.put(arrays.floats(TrainingMemoryPlan.FACTOR), descend);
        return fed;
    }
}
