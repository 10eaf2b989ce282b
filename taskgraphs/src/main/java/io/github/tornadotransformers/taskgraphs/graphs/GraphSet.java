package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.CacheKey;
import io.github.tornadotransformers.taskgraphs.memory.ConstantKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import io.github.tornadotransformers.taskgraphs.memory.RotaryKey;
import io.github.tornadotransformers.taskgraphs.memory.WeightKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All graphs of a program: a chain for one token and, where it is wanted, one for many. One plan holds both, so that weights and
 * cache exist once on the device.
 */
final class GraphSet {
    private final DeviceModel model;
    private final Program program;
    private final boolean traced;
    private final GraphChain decode;
    private final Optional<GraphChain> prefill;
    private final List<DeviceGraph> graphs;

    /**
     * @param prefillRows tokens of the chain for many; 1 for none
     * @param traced whether every Op is a graph, so that its output can be read before the next one runs
     */
    GraphSet(DeviceModel model, GraphMode mode, int prefillRows, boolean traced) {
        this.model = model;
        this.program = model.program();
        this.traced = traced;
        boolean fused = mode == GraphMode.FUSED && !traced;
        List<DeviceGraph> head = graphs("head", Stage.HEAD, 1, program.head(), LayerScope.none());
        this.decode = fused ? fusedChain() : layeredChain("", Stage.DECODE, 1, head);
        this.prefill = prefillRows > 1
                ? Optional.of(layeredChain("prefill_", Stage.PREFILL, prefillRows, head))
                : Optional.empty();
        this.graphs = chains().flatMap(GraphChain::graphs).distinct().toList();
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
    List<DeviceGraph> graphs() {
        return graphs;
    }

    /** What the tasks of all graphs ask for. */
    Stream<PlannedArray<?>> arrays() {
        return graphs.stream().flatMap(DeviceGraph::arrays);
    }

    private GraphChain layeredChain(String prefix, Stage stage, int rows, List<DeviceGraph> head) {
        Map<LayerKind, List<DeviceGraph>> blocks = new HashMap<>();
        List<LayerGraphs> layers = new ArrayList<>();
        for (int layer = 0; layer < program.layers(); layer++) {
            List<DeviceGraph> block = blocks.computeIfAbsent(
                    LayerKind.of(model, layer),
                    kind -> graphs(
                            prefix + "block" + kind.suffix(model),
                            stage,
                            rows,
                            kind.block().ops(),
                            LayerScope.each(kind.group())));
            layers.add(new LayerGraphs(layer, model.groups().indexOf(layer), block));
        }
        List<DeviceGraph> before = graphs(prefix + "embedding", stage, rows, program.embedding(), LayerScope.none());
        return new GraphChain(before, layers, head);
    }

    /** One graph for all Ops, or one for each where they are traced. */
    private List<DeviceGraph> graphs(String name, Stage stage, int rows, List<Op> ops, LayerScope layer) {
        if (!traced) {
            return List.of(DeviceGraph.of(name, tasks(stage, rows, ops, layer)));
        }
        List<DeviceGraph> graphs = new ArrayList<>();
        for (Op op : ops) {
            TaskBuilder tasks = new TaskBuilder(model, stage, rows, layer);
            new OpTasks(tasks).add(op);
            graphs.add(DeviceGraph.traced(name + "_" + op.name(), tasks, op));
        }
        return graphs;
    }

    private TaskBuilder tasks(Stage stage, int rows, List<Op> ops, LayerScope layer) {
        TaskBuilder tasks = new TaskBuilder(model, stage, rows, layer);
        new FusedTasks(tasks).addAll(ops);
        return tasks;
    }

    /** The whole pass, in as few graphs as TornadoVM has room for; a layer is never cut. */
    private GraphChain fusedChain() {
        List<DeviceGraph> parts = new ArrayList<>();
        List<TaskBuilder> part = new ArrayList<>();
        for (TaskBuilder unit : fusedUnits()) {
            List<TaskBuilder> longer = new ArrayList<>(part);
            longer.add(unit);
            if (!DeviceGraph.fits(allTasks(longer)) && !part.isEmpty()) {
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
    private static DeviceGraph fusedPart(int index, List<TaskBuilder> units) {
        return DeviceGraph.of("fused" + index, allTasks(units), units.getFirst().defined());
    }

    private List<TaskBuilder> fusedUnits() {
        List<TaskBuilder> units = new ArrayList<>();
        units.add(tasks(Stage.DECODE, 1, program.embedding(), LayerScope.none()));
        for (int layer = 0; layer < program.layers(); layer++) {
            List<Op> block = program.blocks().get(layer).ops();
            units.add(tasks(Stage.DECODE, 1, block, LayerScope.only(layer, model.groups())));
        }
        units.add(tasks(Stage.HEAD, 1, program.head(), LayerScope.none()));
        return units;
    }

    private void settle() {
        chains().forEach(GraphChain::link);
        prefill.ifPresent(GraphChain::repeatHead);
        chains().forEach(from -> chains().forEach(from::precedes));
        Residency residency = new Residency(graphs);
        Set<ArrayKey<?>> settled = new HashSet<>(tables());
        tables().forEach(residency::upload);
        caches().forEach(residency::keep);
        settled.addAll(caches());
        handedOn().forEach(array -> residency.handOn(array, traced));
        settled.addAll(handedOn());
        Set<DeviceGraph> entries = chains().map(GraphChain::entry).collect(Collectors.toSet());
        for (ArrayKey<?> fed : List.of(ControlKeys.TOKENS, ControlKeys.STEP)) {
            residency.feed(fed, entries);
            settled.add(fed);
        }
        graphs.forEach(graph -> settleOwn(graph, settled));
    }

    /** What the host fills before the device is first used, and no kernel writes. */
    private Set<ArrayKey<?>> tables() {
        Set<ArrayKey<?>> tables = new LinkedHashSet<>();
        graphs.forEach(graph -> graph.uses().stream()
                .filter(key -> key instanceof WeightKey<?> || key instanceof RotaryKey)
                .forEach(tables::add));
        return tables;
    }

    private List<ArrayKey<?>> caches() {
        List<ArrayKey<?>> caches = new ArrayList<>();
        for (int group = 0; group < model.groups().count(); group++) {
            caches.add(model.cache(CacheKey.Part.KEYS, group).key());
            caches.add(model.cache(CacheKey.Part.VALUES, group).key());
        }
        return caches;
    }

    /** The residual stream; where Ops are traced, all activations. */
    private Set<ArrayKey<?>> handedOn() {
        Set<ArrayKey<?>> activations = new LinkedHashSet<>();
        activations.add(new StreamKey(program.residual()));
        graphs.stream().flatMap(graph -> graph.traced().stream()).forEach(traced -> activations.add(traced.array()));
        return activations;
    }

    /** What a graph has for itself: constants, what changes with each execution, and memory that nobody else reads. */
    private void settleOwn(DeviceGraph graph, Set<ArrayKey<?>> settled) {
        Set<ArrayKey<?>> perExecution = Set.of(ControlKeys.LAYER, ControlKeys.HEAD_STEP);
        for (ArrayKey<?> array : graph.uses()) {
            if (array instanceof ConstantKey<?>) {
                graph.move(Movement.UPLOAD_ONCE, array, true);
            } else if (perExecution.contains(array)) {
                graph.move(Movement.UPLOAD_ALWAYS, array, true);
            } else if (!settled.contains(array)) {
                boolean isRead = array.equals(logits(program));
                graph.move(isRead ? Movement.DOWNLOAD : Movement.PERSIST, array, isRead);
            }
        }
    }

    /** Where the head leaves the logits of a row. */
    static ActivationKey logits(Program program) {
        return new ActivationKey(Stage.HEAD, program.logits(), ActivationKey.FIRST);
    }
}
