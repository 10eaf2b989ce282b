package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.ImmutableTaskGraph;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.enums.DataTransferMode;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * One task graph: its tasks, the graphs that may run right after it, and what moves between them, the host and the device. It is a
 * description, of which {@link #build} makes what TornadoVM takes.
 */
public final class DeviceGraph {
    /** Bytes TornadoVM 5.2 has for the description of a graph ({@code TornadoTaskGraph.highLevelCode}), and what a task takes. */
    private static final int DESCRIPTION_BYTES = 8192;

    private static final int BYTES_PER_TASK = 15;
    private static final int BYTES_PER_ARGUMENT = 5;

    /** Tasks TornadoVM 5.2 has room for in a graph ({@code TornadoExecutionContext.MAX_TASKS}). */
    private static final int MAX_TASKS = 256;

    private final String name;
    private final List<DeviceTask> tasks;
    private final SequencedSet<ArrayKey<?>> uses = new LinkedHashSet<>();
    private final Set<ArrayKey<?>> defines;
    private final SequencedSet<DeviceGraph> successors = new LinkedHashSet<>();
    private final Optional<TracedOutput> traced;
    private final List<DeviceTransfer> transfers = new ArrayList<>();

    /** An Op that is all of a graph, and the array of its output. */
    record TracedOutput(Op op, ArrayKey<FloatArray> array) {}

    private DeviceGraph(String name, List<DeviceTask> tasks, Set<ArrayKey<?>> defines, Optional<TracedOutput> traced) {
        this.name = name;
        this.tasks = List.copyOf(tasks);
        this.defines = Set.copyOf(defines);
        this.traced = traced;
        tasks.forEach(task -> task.keys().forEach(uses::add));
    }

    /** @param defines arrays that the tasks write before they read them */
    public static DeviceGraph of(String name, List<DeviceTask> tasks, Set<ArrayKey<?>> defines) {
        return new DeviceGraph(name, tasks, defines, Optional.empty());
    }

    /** A graph of all tasks of a builder. */
    public static DeviceGraph of(String name, TaskBuilder tasks) {
        return of(name, tasks.tasks(), tasks.defined());
    }

    /** A graph of an Op, so that its output can be read before the next one runs. */
    static DeviceGraph traced(String name, TaskBuilder tasks, Op op) {
        TracedOutput output = new TracedOutput(op, tasks.activation(op.output()).key());
        return new DeviceGraph(name, tasks.tasks(), tasks.defined(), Optional.of(output));
    }

    /** Whether TornadoVM has room for these tasks in one graph. */
    public static boolean fits(List<DeviceTask> tasks) {
        int bytes = tasks.stream()
                .mapToInt(task ->
                        BYTES_PER_TASK + BYTES_PER_ARGUMENT * task.arguments().size())
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

    /** The Op that is all of it, where Ops are traced. */
    Optional<TracedOutput> traced() {
        return traced;
    }

    /** What a plan must have for its tasks. */
    public Stream<PlannedArray<?>> arrays() {
        return tasks.stream().flatMap(DeviceTask::arrays);
    }

    public SequencedSet<ArrayKey<?>> uses() {
        return uses;
    }

    /** Whether what an array held before does not matter to this graph. */
    public boolean defines(ArrayKey<?> array) {
        return defines.contains(array);
    }

    /** Says that {@code graph} may run right after this one. */
    public void precedes(DeviceGraph graph) {
        successors.add(graph);
    }

    SequencedSet<DeviceGraph> successors() {
        return successors;
    }

    public void move(Movement movement, ArrayKey<?> array, boolean essential) {
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
    public ImmutableTaskGraph build(DeviceArrays arrays, BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        TaskGraph graph = new TaskGraph(name);
        List<DeviceTransfer> made = transfers.stream()
                .filter(transfer -> kept.test(this, transfer))
                .sorted(Comparator.comparing(transfer -> consumes(transfer.array())))
                .toList();
        made.forEach(transfer -> declare(transfer.movement(), arrays.get(transfer.array()), graph));
        tasks.forEach(task -> task.addTo(graph, arrays));
        return graph.snapshot();
    }

    /** Whether the array is another graph's, and taken over from the one that ran before. */
    private boolean consumes(ArrayKey<?> array) {
        return transfers.stream()
                .anyMatch(transfer -> transfer.movement() == Movement.CONSUME
                        && transfer.array().equals(array));
    }

    private static void declare(Movement movement, TornadoNativeArray array, TaskGraph graph) {
        switch (movement) {
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
