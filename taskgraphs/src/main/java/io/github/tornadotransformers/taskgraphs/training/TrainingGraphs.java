package io.github.tornadotransformers.taskgraphs.training;

import static io.github.tornadotransformers.taskgraphs.memory.Scalar.value;

import io.github.tornadotransformers.kernels.DescentKernels;
import io.github.tornadotransformers.kernels.LinearTileKernels;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.graphs.ActivationKey;
import io.github.tornadotransformers.taskgraphs.graphs.ControlKeys;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceGraph;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.graphs.LayerKind;
import io.github.tornadotransformers.taskgraphs.graphs.LayerScope;
import io.github.tornadotransformers.taskgraphs.graphs.Residency;
import io.github.tornadotransformers.taskgraphs.graphs.Stage;
import io.github.tornadotransformers.taskgraphs.graphs.TaskBuilder;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.ConstantKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import io.github.tornadotransformers.taskgraphs.memory.LayerGroups;
import io.github.tornadotransformers.taskgraphs.memory.LayerRange;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import io.github.tornadotransformers.taskgraphs.memory.RotaryKey;
import io.github.tornadotransformers.taskgraphs.memory.Scalar;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/**
 * The graphs of a training step, all in one plan, so that each array exists once on the device. A sequence runs {@code
 * embedding}, {@code block} for each layer, and {@code head}, which leaves what its loss is computed from; on the way back
 * {@code headGradients}, for each layer from the last one {@code blockGradients}, and {@code embeddingGradients}.
 *
 * <p>The block takes the residual stream before its layer from one array and puts that after it there, so that it can run
 * again on the way back: only the streams are kept for all layers, activations for one (Chen et al. 2016, arXiv:1604.06174).
 */
final class TrainingGraphs {
    private static final Scalar<Integer> ONE = value(1);

    private final DeviceModel model;
    private final Program program;
    private final int rows;
    private final DeviceGraph begin;
    private final DeviceGraph embedding;

    /** For each layer, as are {@code blockGradients}; those of a kind share a graph. */
    private final List<DeviceGraph> blocks;

    private final DeviceGraph head;
    private final DeviceGraph headGradients;
    private final List<DeviceGraph> blockGradients;
    private final DeviceGraph embeddingGradients;
    private final DeviceGraph descend;

    TrainingGraphs(Program program, DeviceInfo device) {
        this.model = DeviceModel.withoutCache(program, MatrixTypes.of(DType.F32), MathMode.STRICT, device);
        this.program = program;
        this.rows = rows(program);
        embedding = graph("embedding", builder(Stage.TRAINING), this::addEmbedding);
        blocks = perLayer("block", this::addBlock);
        blockGradients = perLayer("blockGradients", this::addBlockGradients);
        head = graph("head", builder(Stage.TRAINING_HEAD), this::addHead);
        headGradients = graph("headGradients", builder(Stage.TRAINING_HEAD), this::addHeadGradients);
        embeddingGradients = graph("embeddingGradients", builder(Stage.TRAINING), this::addEmbeddingGradients);
        descend = graph("descend", builder(Stage.TRAINING), this::addDescend);
        begin = graph("begin", builder(Stage.TRAINING), this::addBegin);
        link();
        settle();
    }

    /** The rows that arrays have: whole tiles. */
    static int rows(Program program) {
        int tiles = Math.ceilDiv(program.contextLength(), LinearTileKernels.TILE_ROWS);
        return Math.multiplyExact(tiles, LinearTileKernels.TILE_ROWS);
    }

    /** Which layers lie in one array. */
    LayerGroups groups() {
        return model.groups();
    }

    /** What the tasks of all graphs ask for. */
    MemoryPlan plan(DeviceInfo device) {
        return new MemoryPlan(device, graphs().stream().flatMap(DeviceGraph::arrays));
    }

    /** Adds tasks. */
    @FunctionalInterface
    private interface Tasks {
        void addTo(TaskBuilder in);
    }

    private static DeviceGraph graph(String name, TaskBuilder in, Tasks tasks) {
        tasks.addTo(in);
        return DeviceGraph.of(name, in);
    }

    /** For what is not stacked. */
    private TaskBuilder builder(Stage stage) {
        return new TaskBuilder(model, stage, rows, LayerScope.none());
    }

    /** Adds the tasks of a layer. */
    @FunctionalInterface
    private interface BlockTasks {
        void addTo(TaskBuilder in, Block block);
    }

    private List<DeviceGraph> perLayer(String name, BlockTasks tasks) {
        Map<LayerKind, DeviceGraph> known = new HashMap<>();
        List<DeviceGraph> graphs = new ArrayList<>();
        for (int layer = 0; layer < program.layers(); layer++) {
            LayerScope scope = LayerScope.each(layer, model.groups());
            graphs.add(known.computeIfAbsent(LayerKind.of(model, layer), kind -> {
                TaskBuilder in = new TaskBuilder(model, Stage.TRAINING, rows, scope);
                return graph(name + kind.suffix(model), in, builder -> tasks.addTo(builder, kind.block()));
            }));
        }
        return List.copyOf(graphs);
    }

    /** Adds a task for an array of weights. */
    @FunctionalInterface
    private interface WeightTask {
        void add(String name, PlannedArray<FloatArray> weights, PlannedArray<FloatArray> gradients);
    }

    /** For every array of weights: one for each group of layers. */
    private void forEachWeight(WeightTask task) {
        for (Weight weight : program.weights()) {
            int arrays = model.groups().count(weight);
            for (int group = 0; group < arrays; group++) {
                LayerRange layers = model.groups().range(weight, group);
                task.add(
                        weight.name() + (arrays == 1 ? "" : model.groups().suffix(group)),
                        model.vector(weight, group),
                        new WeightGradientKey(weight, layers).planned());
            }
        }
    }

    private void addBegin(TaskBuilder in) {
        forEachWeight((name, weights, gradients) -> in.task(name, gradients.elements())
                .calls(DescentKernels::begin, weights, gradients, ONE, size(gradients)));
        for (PlannedArray<FloatArray> shared : sharedOnTheWayBack()) {
            in.task("clear" + in.tasks().size(), shared.elements())
                    .calls(DescentKernels::clear, shared, ONE, size(shared));
        }
    }

    private static Scalar<Integer> size(PlannedArray<?> array) {
        return value(Math.toIntExact(array.elements()));
    }

    /**
     * What graphs on the way back hand on to one another, and no graph before has. As a block can run between them, which must
     * carry it then and always, it is there from the beginning.
     */
    private Collection<PlannedArray<FloatArray>> sharedOnTheWayBack() {
        Set<ArrayKey<?>> known = new HashSet<>();
        forEachWeight((_, weights, gradients) -> known.addAll(List.of(weights.key(), gradients.key())));
        Stream.concat(Stream.of(embedding, head), blocks.stream()).forEach(graph -> known.addAll(graph.uses()));
        Map<ArrayKey<?>, PlannedArray<FloatArray>> found = new LinkedHashMap<>();
        Map<ArrayKey<?>, Set<DeviceGraph>> users = new HashMap<>();
        Stream.concat(
                        Stream.of(headGradients, embeddingGradients),
                        blockGradients.stream().distinct())
                .forEach(graph -> graph.arrays()
                        .flatMap(array -> array.as(ElementType.FLOAT).stream())
                        .filter(array -> !known.contains(array.key()))
                        .forEach(array -> {
                            found.merge(array.key(), array, PlannedArray::larger);
                            users.computeIfAbsent(array.key(), _ -> new HashSet<>())
                                    .add(graph);
                        }));
        found.keySet().removeIf(key -> users.get(key).size() == 1);
        return found.values();
    }

    private void addDescend(TaskBuilder in) {
        forEachWeight((name, weights, gradients) -> in.task(name, gradients.elements())
                .calls(
                        DescentKernels::descend,
                        new TrainingArrays(in).factor(),
                        gradients,
                        weights,
                        ONE,
                        size(gradients)));
    }

    private void addEmbedding(TaskBuilder in) {
        TrainingTasks tasks = new TrainingTasks(in);
        TrainedOp.of(program.embedding(), program.residual()).forEach(tasks::add);
        putStream(in, tasks, 0);
    }

    private void addBlock(TaskBuilder in, Block block) {
        TrainingTasks tasks = new TrainingTasks(in);
        takeStream(in, tasks);
        TrainedOp.of(block.ops(), program.residual()).forEach(tasks::add);
        putStream(in, tasks, 1);
    }

    private void addHead(TaskBuilder in) {
        TrainingTasks tasks = new TrainingTasks(in);
        takeStream(in, tasks);
        TrainedOp.of(program.head(), program.residual()).forEach(tasks::add);
        GradientTasks.addTotals(in, program.logits());
    }

    private void takeStream(TaskBuilder in, TrainingTasks tasks) {
        TrainingArrays arrays = new TrainingArrays(in);
        PlannedArray<FloatArray> residual = in.activation(program.residual(), ActivationKey.FIRST);
        tasks.take(
                "takeStream",
                arrays.stream(program),
                arrays.depth(),
                residual,
                program.residual().width());
    }

    private void putStream(TaskBuilder in, TrainingTasks tasks, int above) {
        TrainingArrays arrays = new TrainingArrays(in);
        PlannedArray<FloatArray> residual = in.activation(program.residual());
        tasks.put(
                "putStream",
                residual,
                arrays.depth(),
                arrays.stream(program),
                above,
                program.residual().width());
    }

    private void addHeadGradients(TaskBuilder in) {
        List<TrainedOp> ops = TrainedOp.of(program.head(), program.residual());
        GradientTasks tasks = new GradientTasks(in, Set.of());
        in.use(ops.getLast().after());
        tasks.addLogits(program.logits());
        ops.reversed().forEach(tasks::add);
    }

    private void addBlockGradients(TaskBuilder in, Block block) {
        GradientTasks tasks = new GradientTasks(in, Set.of(program.residual()));
        TrainedOp.of(block.ops(), program.residual()).reversed().forEach(tasks::add);
    }

    private void addEmbeddingGradients(TaskBuilder in) {
        GradientTasks tasks = new GradientTasks(in, Set.of(program.residual()));
        TrainedOp.of(program.embedding(), program.residual()).reversed().forEach(tasks::add);
    }

    /** Takes the weights over, and clears gradients. */
    DeviceGraph begin() {
        return begin;
    }

    DeviceGraph embedding() {
        return embedding;
    }

    /** A layer forward; leaves its activations. */
    DeviceGraph block(int layer) {
        return blocks.get(layer);
    }

    /** The gradients of a layer whose activations are there. */
    DeviceGraph blockGradients(int layer) {
        return blockGradients.get(layer);
    }

    DeviceGraph head() {
        return head;
    }

    DeviceGraph headGradients() {
        return headGradients;
    }

    DeviceGraph embeddingGradients() {
        return embeddingGradients;
    }

    /** Moves the weights against their gradients. */
    DeviceGraph descend() {
        return descend;
    }

    /** Every graph once, in an order in which they can first run. */
    List<DeviceGraph> graphs() {
        return Stream.of(
                        Stream.of(begin, embedding),
                        blocks.stream(),
                        Stream.of(head, headGradients),
                        blockGradients.reversed().stream(),
                        Stream.of(embeddingGradients, descend))
                .flatMap(each -> each)
                .distinct()
                .toList();
    }

    private void link() {
        for (DeviceGraph last : List.of(begin, head, embeddingGradients, descend)) {
            List.of(begin, embedding, descend).forEach(last::precedes);
        }
        DeviceGraph forward = embedding;
        for (int layer = 0; layer < program.layers(); layer++) {
            forward.precedes(block(layer));
            forward = block(layer);
        }
        forward.precedes(head);
        head.precedes(headGradients);
        int last = program.layers() - 1;
        headGradients.precedes(blockGradients(last));
        for (int layer = last - 1; layer >= 0; layer--) {
            blockGradients(layer + 1).precedes(block(layer));
            block(layer).precedes(blockGradients(layer));
        }
        blockGradients(0).precedes(embeddingGradients);
    }

    private void settle() {
        Residency residency = new Residency(graphs());
        Map<ArrayKey<?>, DeviceGraph> fed = fed();
        Set<ArrayKey<?>> perExecution = Set.of(ControlKeys.LAYER, TrainingArrays.DEPTH);
        Set<ArrayKey<?>> used = new LinkedHashSet<>();
        graphs().forEach(graph -> used.addAll(graph.uses()));
        for (ArrayKey<?> array : used) {
            List<DeviceGraph> users = graphs().stream()
                    .filter(graph -> graph.uses().contains(array))
                    .toList();
            if (array instanceof ConstantKey<?>) {
                users.forEach(graph -> graph.move(Movement.UPLOAD_ONCE, array, true));
            } else if (perExecution.contains(array)) {
                users.forEach(graph -> graph.move(Movement.UPLOAD_ALWAYS, array, true));
            } else if (fed.containsKey(array)) {
                residency.feed(array, Set.of(fed.get(array)));
            } else if (array instanceof RotaryKey) {
                residency.upload(array);
            } else if (users.size() == 1) {
                users.getFirst().move(Movement.PERSIST, array, true);
            } else {
                residency.keep(array);
            }
        }
    }

    /** What comes from the host, and with which graph. */
    private Map<ArrayKey<?>, DeviceGraph> fed() {
        Map<ArrayKey<?>, DeviceGraph> fed = new HashMap<>();
        forEachWeight((_, weights, _) -> fed.put(weights.key(), begin));
        fed.put(ControlKeys.TOKENS, embedding);
        fed.put(ControlKeys.step(Stage.TRAINING), embedding);
        fed.put(TrainingArrays.TARGETS, head);
        fed.put(TrainingArrays.SCALE, headGradients);
        fed.put(TrainingArrays.FACTOR, descend);
        return fed;
    }
}
