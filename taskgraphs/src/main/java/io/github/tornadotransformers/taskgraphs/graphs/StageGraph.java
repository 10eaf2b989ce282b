package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.BiPredicate;
import uk.ac.manchester.tornado.api.ImmutableTaskGraph;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.enums.DataTransferMode;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** One task graph: its tasks, the graphs that may run right after it, and what moves between them, the host and the device. */
public final class StageGraph {
    /** Bytes TornadoVM 5.2 has for the description of a graph ({@code TornadoTaskGraph.highLevelCode}), and what a task takes. */
    private static final int DESCRIPTION_BYTES = 8192;

    private static final int BYTES_PER_TASK = 15;
    private static final int BYTES_PER_ARGUMENT = 5;

    /** Tasks TornadoVM 5.2 has room for in a graph ({@code TornadoExecutionContext.MAX_TASKS}). */
    private static final int MAX_TASKS = 256;

    private final String name;
    private final List<DeviceTask> tasks;
    private final SequencedSet<TornadoNativeArray> uses = new LinkedHashSet<>();
    private final Set<TornadoNativeArray> defines;
    private final List<StageGraph> successors = new ArrayList<>();
    private final List<DeviceTransfer> transfers = new ArrayList<>();

    /** @param defines arrays that the tasks write before they read them */
    public StageGraph(String name, List<DeviceTask> tasks, Set<TornadoNativeArray> defines) {
        this.name = name;
        this.tasks = List.copyOf(tasks);
        this.defines = Set.copyOf(defines);
        tasks.forEach(task -> uses.addAll(task.arrays()));
    }

    /** Whether TornadoVM has room for these tasks in one graph. */
    public static boolean fits(List<DeviceTask> tasks) {
        int bytes = tasks.stream()
                .mapToInt(task -> BYTES_PER_TASK + BYTES_PER_ARGUMENT * task.arguments())
                .sum();
        return bytes <= DESCRIPTION_BYTES && tasks.size() <= MAX_TASKS;
    }

    public String name() {
        return name;
    }

    public List<DeviceTask> tasks() {
        return tasks;
    }

    /** The tasks as TornadoVM calls them. */
    List<String> taskKeys() {
        return tasks.stream().map(this::key).toList();
    }

    String key(DeviceTask task) {
        return name + "." + task.id();
    }

    public SequencedSet<TornadoNativeArray> uses() {
        return uses;
    }

    /** Whether what an array held before does not matter to this graph. */
    public boolean defines(TornadoNativeArray array) {
        return defines.contains(array);
    }

    /** Says that {@code graph} may run right after this one. */
    public void precedes(StageGraph graph) {
        successors.add(graph);
    }

    public List<StageGraph> successors() {
        return successors;
    }

    public void move(Movement movement, TornadoNativeArray array, boolean essential) {
        transfers.add(new DeviceTransfer(movement, array, essential));
    }

    public List<DeviceTransfer> transfers() {
        return transfers;
    }

    /**
     * The graph as TornadoVM takes it. What it has of its own is declared before what it took over, and is freed in that order.
     *
     * @param kept which transfers are made: all of them, but for a test of what happens without one
     */
    public ImmutableTaskGraph build(BiPredicate<StageGraph, DeviceTransfer> kept) {
        TaskGraph graph = new TaskGraph(name);
        List<DeviceTransfer> made = transfers.stream()
                .filter(transfer -> kept.test(this, transfer))
                .sorted(Comparator.comparing(transfer -> consumes(transfer.array())))
                .toList();
        made.forEach(transfer -> declare(transfer, graph));
        tasks.forEach(task -> task.adder().accept(graph));
        return graph.snapshot();
    }

    /** Whether the array is another graph's, and taken over from the one that ran before. */
    private boolean consumes(TornadoNativeArray array) {
        return transfers.stream()
                .anyMatch(transfer -> transfer.movement() == Movement.CONSUME && transfer.array() == array);
    }

    private static void declare(DeviceTransfer transfer, TaskGraph graph) {
        TornadoNativeArray array = transfer.array();
        switch (transfer.movement()) {
            case CONSUME -> graph.consumeFromDevice(array);
            case UPLOAD_ONCE -> graph.transferToDevice(DataTransferMode.FIRST_EXECUTION, array);
            case UPLOAD_ALWAYS -> graph.transferToDevice(DataTransferMode.EVERY_EXECUTION, array);
            case PERSIST -> graph.persistOnDevice(array);
            case DOWNLOAD -> graph.transferToHost(DataTransferMode.EVERY_EXECUTION, array);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
