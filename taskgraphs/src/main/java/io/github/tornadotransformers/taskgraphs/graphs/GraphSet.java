package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.kernels.LikeliestKernels;
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
 * All graphs of a program: a chain for one token and, where they are wanted, chains for several and for many. One plan holds them
 * all, so that weights and cache exist once on the device.
 */
final class GraphSet {
    private static final Set<Stage> HEAD_STAGES = Set.of(Stage.HEAD, Stage.HEADS);

    private final DeviceModel model;
    private final Program program;
    private final boolean traced;
    private final boolean headFollowsDecode;
    private final List<GraphChain> chains = new ArrayList<>();
    private final Optional<DeviceGraph> copy;
    private final Optional<UploadCheck> check;
    private final List<DeviceGraph> graphs;

    /**
     * @param rows tokens of the chains
     * @param traced whether every Op is a graph, so that its output can be read before the next one runs
     */
    GraphSet(DeviceModel model, GraphMode mode, ChainRows rows, boolean traced) {
        this.model = model;
        this.program = model.program();
        this.traced = traced;
        boolean fused = mode == GraphMode.FUSED && !traced;
        List<DeviceGraph> head = graphs("head", Stage.HEAD, 1, program.head(), LayerScope.none());
        List<DeviceGraph> heads = rows.heads() > 1 && !traced
                ? graphs("heads", Stage.HEADS, rows.heads(), program.head(), LayerScope.none())
                : List.of();
        chains.add(fused ? fusedChain() : layeredChain("", Stage.DECODE, 1, head, List.of()));
        if (rows.several() > 1) {
            chains.add(layeredChain("several_", Stage.SEVERAL, rows.several(), head, heads));
        }
        if (rows.many() > 1) {
            chains.add(layeredChain("prefill_", Stage.PREFILL, rows.many(), head, heads));
        }
        this.headFollowsDecode = !heads.isEmpty();
        this.copy = rows.ofBatches() ? Optional.of(copyGraph()) : Optional.empty();
        List<DeviceGraph> all = new ArrayList<>(
                chains.stream().flatMap(GraphChain::graphs).distinct().toList());
        copy.ifPresent(all::add);
        // Graphs of single Ops are many to carry everything through.
        this.check = traced || !UploadCheck.isFor(model.device())
                ? Optional.empty()
                : Optional.of(new UploadCheck(plannedTables(all)));
        check.ifPresent(each -> all.add(each.graph()));
        this.graphs = List.copyOf(all);
        settle();
    }

    /** The chain for one token first, then those for more; they can run once a token has gone through the first. */
    List<GraphChain> chains() {
        return List.copyOf(chains);
    }

    GraphChain decode() {
        return chains.getFirst();
    }

    /** Copies a page in every layer; it can run between two chains. There is one where sequences share pages. */
    Optional<DeviceGraph> copy() {
        return copy;
    }

    /**
     * Whether tables are on the device as they were sent. Its graph can run once a head has, with which everything is there. There is
     * none where Ops are traced, nor on devices that it is not for.
     */
    Optional<UploadCheck> check() {
        return check;
    }

    /**
     * Whether the head runs after every token of the first chain, be its logits wanted or not: so that it has brought its weights
     * to the device before another chain runs, which hands them on to graphs that share them.
     */
    boolean headFollowsDecode() {
        return headFollowsDecode;
    }

    /** Every graph once, in an order in which they can first run. */
    List<DeviceGraph> graphs() {
        return graphs;
    }

    /** What the tasks of all graphs ask for. */
    Stream<PlannedArray<?>> arrays() {
        return graphs.stream().flatMap(DeviceGraph::arrays);
    }

    private GraphChain layeredChain(
            String prefix, Stage stage, int rows, List<DeviceGraph> head, List<DeviceGraph> heads) {
        Map<LayerKind, List<DeviceGraph>> blocks = new HashMap<>();
        List<LayerGraphs> layers = new ArrayList<>();
        for (int layer = 0; layer < program.layers(); layer++) {
            LayerScope scope = LayerScope.each(layer, model.groups());
            List<DeviceGraph> block = blocks.computeIfAbsent(
                    LayerKind.of(model, layer),
                    kind -> graphs(
                            prefix + "block" + kind.suffix(model),
                            stage,
                            rows,
                            kind.block().ops(),
                            scope));
            layers.add(new LayerGraphs(layer, model.groups().indexOf(layer), block));
        }
        List<DeviceGraph> before = graphs(prefix + "embedding", stage, rows, program.embedding(), LayerScope.none());
        return new GraphChain(stage, rows, before, layers, head, heads);
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

    /** Whether heads find each row's likeliest tokens, so that logits stay on the device unless they are fetched. */
    boolean findsLikeliest() {
        return !traced
                && program.vocabSize() <= LikeliestKernels.MOST_LOGITS
                && model.device().worksInGroups(LikeliestKernels.GROUP);
    }

    private TaskBuilder tasks(Stage stage, int rows, List<Op> ops, LayerScope layer) {
        TaskBuilder tasks = new TaskBuilder(model, stage, rows, layer);
        new FusedTasks(tasks).addAll(ops);
        if (HEAD_STAGES.contains(stage) && findsLikeliest()) {
            new OpTasks(tasks).likeliest(program.logits(), stage);
        }
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
        return new GraphChain(Stage.DECODE, 1, parts, List.of(), List.of(), List.of());
    }

    private static List<DeviceTask> allTasks(List<TaskBuilder> units) {
        return units.stream().flatMap(unit -> unit.tasks().stream()).toList();
    }

    /** A graph of several units; only its first one can find an array untouched. */
    private static DeviceGraph fusedPart(int index, List<TaskBuilder> units) {
        return DeviceGraph.of("fused" + index, allTasks(units), units.getFirst().defined());
    }

    private DeviceGraph copyGraph() {
        List<DeviceTask> tasks = new ArrayList<>();
        for (int group = 0; group < model.groups().count(); group++) {
            int layer = model.groups().range(group).first();
            TaskBuilder in = new TaskBuilder(model, Stage.DECODE, 1, LayerScope.each(layer, model.groups()));
            new OpTasks(in)
                    .copyPages(
                            model.groups().suffix(group),
                            model.groups().range(group).count());
            tasks.addAll(in.tasks());
        }
        return DeviceGraph.of("copyPage", tasks, Set.of());
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
        chains.forEach(GraphChain::link);
        chains.stream().skip(1).forEach(GraphChain::repeatHead);
        for (GraphChain from : chains) {
            boolean withoutHead = from.stage() != Stage.DECODE || !headFollowsDecode;
            chains.forEach(next -> from.precedes(next.entry(), withoutHead));
            copy.ifPresent(next -> from.precedes(next, withoutHead));
            check.ifPresent(next -> from.precedes(next.graph(), false));
        }
        check.ifPresent(each -> {
            copy.ifPresent(each.graph()::precedes);
            chains.forEach(next -> each.graph().precedes(next.entry()));
        });
        copy.ifPresent(graph -> {
            graph.precedes(graph);
            chains.forEach(next -> graph.precedes(next.entry()));
        });
        Residency residency = new Residency(graphs);
        Set<ArrayKey<?>> settled = new HashSet<>(tables());
        tables().forEach(residency::upload);
        caches().forEach(residency::keep);
        settled.addAll(caches());
        // One for all chains: their head is the same.
        ArrayKey<?> stream = new StreamKey(program.residual());
        residency.keep(stream);
        settled.add(stream);
        handedOn().forEach(residency::handOn);
        settled.addAll(handedOn());
        residency.feed(
                ControlKeys.TOKENS, chains.stream().map(GraphChain::entry).collect(Collectors.toSet()));
        settled.add(ControlKeys.TOKENS);
        for (GraphChain chain : chains) {
            ArrayKey<?> step = ControlKeys.step(chain.stage());
            residency.feed(step, Set.of(chain.entry()));
            settled.add(step);
        }
        graphs.forEach(graph -> settleOwn(graph, settled));
    }

    /** What the host fills before the device is first used, and no kernel writes. */
    private Set<ArrayKey<?>> tables() {
        Set<ArrayKey<?>> tables = new LinkedHashSet<>();
        graphs.forEach(graph -> graph.uses().stream().filter(GraphSet::isTable).forEach(tables::add));
        return tables;
    }

    private static boolean isTable(ArrayKey<?> key) {
        return key instanceof WeightKey<?> || key instanceof RotaryKey;
    }

    private static Set<PlannedArray<?>> plannedTables(List<DeviceGraph> graphs) {
        return graphs.stream()
                .flatMap(DeviceGraph::arrays)
                .filter(array -> isTable(array.key()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private List<ArrayKey<?>> caches() {
        List<ArrayKey<?>> caches = new ArrayList<>();
        for (int group = 0; group < model.groups().count(); group++) {
            caches.add(model.cache(CacheKey.Part.KEYS, group).key());
            caches.add(model.cache(CacheKey.Part.VALUES, group).key());
        }
        return caches;
    }

    /** Where Ops are traced, all other activations. */
    private Set<ArrayKey<?>> handedOn() {
        return graphs.stream()
                .flatMap(graph -> graph.traced().stream())
                .map(DeviceGraph.TracedOutput::array)
                .filter(array -> !(array instanceof StreamKey))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** What a graph has for itself: constants, what changes with each execution, and memory that nobody else reads. */
    private void settleOwn(DeviceGraph graph, Set<ArrayKey<?>> settled) {
        Set<ArrayKey<?>> perExecution = Set.of(
                ControlKeys.LAYER, ControlKeys.COPY, ControlKeys.step(Stage.HEAD), ControlKeys.step(Stage.HEADS));
        for (ArrayKey<?> array : graph.uses()) {
            if (array instanceof ConstantKey<?>) {
                graph.move(Movement.UPLOAD_ONCE, array, true);
            } else if (perExecution.contains(array)) {
                graph.move(Movement.UPLOAD_ALWAYS, array, true);
            } else if (!settled.contains(array)) {
                boolean isLogits = HEAD_STAGES.stream().anyMatch(head -> array.equals(logits(head)));
                boolean isFetched = isLogits && findsLikeliest();
                boolean isRead = isLogits
                        || HEAD_STAGES.stream().anyMatch(head -> array.equals(ControlKeys.likeliest(head)))
                        || check.filter(each -> each.sums().contains(array)).isPresent();
                graph.move(isRead && !isFetched ? Movement.DOWNLOAD : Movement.PERSIST, array, true);
            }
        }
    }

    /** Where the head leaves the logits of its rows. */
    ActivationKey logits(Stage head) {
        return new ActivationKey(head, program.logits(), ActivationKey.FIRST);
    }
}
