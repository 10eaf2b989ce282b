package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.LayerGroups;
import io.github.tornadotransformers.taskgraphs.memory.MemoryPlan;
import io.github.tornadotransformers.taskgraphs.memory.Stage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * All graphs of a program: a chain for one token and, where it is wanted, one for many. One plan holds both, so that weights and
 * cache exist once on the device.
 */
final class GraphSet {
    private final DeviceModel model;
    private final Program program;
    private final DeviceArrays arrays;
    private final boolean traced;
    private final GraphChain decode;
    private final Optional<GraphChain> prefill;
    private final List<StageGraph> graphs = new ArrayList<>();

    /**
     * @param prefillRows tokens of the chain for many; 1 for none
     * @param traced whether every Op is a graph, so that its output can be read before the next one runs
     */
    GraphSet(DeviceModel model, GraphMode mode, int prefillRows, boolean traced) {
        this.model = model;
        this.program = model.program();
        this.arrays = model.arrays();
        this.traced = traced;
        boolean fused = mode == GraphMode.FUSED && !traced;
        List<OpGraph> head = graphs("", "head", Stage.HEAD, 1, program.head(), arrays.layer(0), 0);
        this.decode = fused ? fusedChain() : layeredChain("", Stage.DECODE, 1, head);
        this.prefill = prefillRows > 1
                ? Optional.of(layeredChain("prefill_", Stage.PREFILL, prefillRows, head))
                : Optional.empty();
        Set<StageGraph> all = new LinkedHashSet<>();
        chains().flatMap(GraphChain::graphs).forEach(each -> all.add(each.graph()));
        graphs.addAll(all);
        settle();
    }

    GraphChain decode() {
        return decode;
    }

    /** The chain for many tokens; it can run once a token has gone through the other. */
    Optional<GraphChain> prefill() {
        return prefill;
    }

    private Stream<GraphChain> chains() {
        return Stream.concat(Stream.of(decode), prefill.stream());
    }

    /** Every graph once, in an order in which they can first run. */
    List<StageGraph> graphs() {
        return graphs;
    }

    private GraphChain layeredChain(String prefix, Stage stage, int rows, List<OpGraph> head) {
        LayerGroups groups = arrays.groups();
        IntArray layer = arrays.ints(MemoryPlan.LAYER);
        List<LayerGraphs> blocks = new ArrayList<>();
        for (int group = 0; group < groups.count(); group++) {
            List<OpGraph> block = graphs(
                    prefix,
                    "block" + groups.suffix(group),
                    stage,
                    rows,
                    program.kinds().getFirst().ops(),
                    layer,
                    group);
            blocks.add(new LayerGraphs(groups.firstLayer(group), groups.layersOf(group), block));
        }
        List<OpGraph> before = graphs(prefix, "embedding", stage, rows, program.embedding(), arrays.layer(0), 0);
        return new GraphChain(before, blocks, head);
    }

    /** One graph for all Ops, or one for each where they are traced. */
    private List<OpGraph> graphs(
            String prefix, String name, Stage stage, int rows, List<Op> ops, IntArray layer, int group) {
        if (!traced) {
            TaskBuilder tasks = new TaskBuilder(model, stage, rows, layer, group, "");
            new FusedTasks(tasks).addAll(ops);
            return List.of(new OpGraph(graph(prefix + name, tasks), Optional.empty()));
        }
        List<OpGraph> graphs = new ArrayList<>();
        for (Op op : ops) {
            TaskBuilder tasks = new TaskBuilder(model, stage, rows, layer, group, "");
            new OpTasks(tasks).add(op);
            OpGraph.Trace trace = new OpGraph.Trace(op, tasks.activation(op.output()));
            graphs.add(new OpGraph(graph(prefix + name + "_" + op.name(), tasks), Optional.of(trace)));
        }
        return graphs;
    }

    private static StageGraph graph(String name, TaskBuilder tasks) {
        return new StageGraph(name, tasks.tasks(), tasks.defined());
    }

    /** The whole pass, in as few graphs as TornadoVM has room for; a layer is never cut. */
    private GraphChain fusedChain() {
        List<OpGraph> parts = new ArrayList<>();
        List<TaskBuilder> part = new ArrayList<>();
        for (TaskBuilder unit : fusedUnits()) {
            List<TaskBuilder> longer = new ArrayList<>(part);
            longer.add(unit);
            if (!StageGraph.fits(allTasks(longer)) && !part.isEmpty()) {
                parts.add(fusedPart(parts.size(), part));
                longer = new ArrayList<>(List.of(unit));
            }
            part = longer;
        }
        parts.add(fusedPart(parts.size(), part));
        return new GraphChain(parts, List.of(), List.of());
    }

    private static List<DeviceTask> allTasks(List<TaskBuilder> units) {
        return units.stream().flatMap(unit -> unit.tasks().stream()).toList();
    }

    /** A graph of several units; only its first one can find an array untouched. */
    private static OpGraph fusedPart(int index, List<TaskBuilder> units) {
        StageGraph graph = new StageGraph(
                "fused" + index, allTasks(units), units.getFirst().defined());
        return new OpGraph(graph, Optional.empty());
    }

    private List<TaskBuilder> fusedUnits() {
        LayerGroups groups = arrays.groups();
        List<TaskBuilder> units = new ArrayList<>();
        units.add(fusedUnit(new TaskBuilder(model, Stage.DECODE, 1, arrays.layer(0), 0, ""), program.embedding()));
        for (int layer = 0; layer < program.layers(); layer++) {
            int group = layer / groups.perGroup();
            IntArray within = arrays.layer(layer - groups.firstLayer(group));
            String prefix = "layer" + layer + "_";
            units.add(fusedUnit(
                    new TaskBuilder(model, Stage.DECODE, 1, within, group, prefix),
                    program.kinds().getFirst().ops()));
        }
        units.add(fusedUnit(new TaskBuilder(model, Stage.HEAD, 1, arrays.layer(0), 0, ""), program.head()));
        return units;
    }

    private static TaskBuilder fusedUnit(TaskBuilder tasks, List<Op> ops) {
        new FusedTasks(tasks).addAll(ops);
        return tasks;
    }

    private void settle() {
        chains().forEach(GraphChain::link);
        prefill.ifPresent(GraphChain::repeatHead);
        chains().forEach(from -> chains().forEach(from::precedes));
        Residency residency = new Residency(graphs);
        Set<TornadoNativeArray> settled = new HashSet<>(tables());
        tables().forEach(residency::upload);
        caches().forEach(residency::keep);
        settled.addAll(caches());
        handedOn().forEach(array -> residency.handOn(array, traced));
        settled.addAll(handedOn());
        Set<StageGraph> entries = chains().map(GraphChain::entry).collect(Collectors.toSet());
        for (String name : List.of(MemoryPlan.TOKENS, MemoryPlan.STEP)) {
            residency.feed(arrays.ints(name), entries);
            settled.add(arrays.ints(name));
        }
        graphs.forEach(graph -> settleOwn(graph, settled));
    }

    private Set<TornadoNativeArray> tables() {
        Set<TornadoNativeArray> tables = new LinkedHashSet<>();
        graphs.forEach(graph -> graph.uses().stream().filter(arrays::isTable).forEach(tables::add));
        return tables;
    }

    private List<TornadoNativeArray> caches() {
        List<TornadoNativeArray> caches = new ArrayList<>();
        for (int group = 0; group < arrays.groups().count(); group++) {
            caches.add(arrays.floats(MemoryPlan.KEYS, group));
            caches.add(arrays.floats(MemoryPlan.VALUES, group));
        }
        return caches;
    }

    /** The residual stream; where Ops are traced, all activations. */
    private Set<TornadoNativeArray> handedOn() {
        Set<TornadoNativeArray> activations = new LinkedHashSet<>();
        activations.add(arrays.floats(program.residual().name()));
        chains().flatMap(GraphChain::graphs)
                .flatMap(each -> each.traced().stream())
                .map(OpGraph.Trace::output)
                .forEach(activations::add);
        return activations;
    }

    /** What a graph has for itself: constants, what changes with each execution, and memory that nobody else reads. */
    private void settleOwn(StageGraph graph, Set<TornadoNativeArray> settled) {
        FloatArray logits = arrays.floats(Stage.HEAD.array(program.logits().name()));
        Set<TornadoNativeArray> perExecution = Set.of(arrays.ints(MemoryPlan.LAYER), arrays.ints(MemoryPlan.HEAD_STEP));
        for (TornadoNativeArray array : graph.uses()) {
            if (arrays.isConstant(array)) {
                graph.move(Movement.UPLOAD_ONCE, array, true);
            } else if (perExecution.contains(array)) {
                graph.move(Movement.UPLOAD_ALWAYS, array, true);
            } else if (!settled.contains(array)) {
                boolean isRead = array == logits;
                graph.move(isRead ? Movement.DOWNLOAD : Movement.PERSIST, array, isRead);
            }
        }
    }
}
