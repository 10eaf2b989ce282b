package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.devices.CapturedErrors;
import io.github.tornadotransformers.taskgraphs.devices.CompileListener;
import io.github.tornadotransformers.taskgraphs.devices.CompileReport;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceFailure;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.DriverCalls;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiPredicate;
import uk.ac.manchester.tornado.api.GridScheduler;
import uk.ac.manchester.tornado.api.ImmutableTaskGraph;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.TornadoExecutionResult;
import uk.ac.manchester.tornado.api.WorkerGrid1D;
import uk.ac.manchester.tornado.api.enums.ProfilerMode;
import uk.ac.manchester.tornado.api.exceptions.TornadoInternalError;

/**
 * Graphs on a device, executed one at a time. A graph compiles when it is first executed; where the backend can, the driver notes then what it is told, and does
 * it again each time: one call instead of one for each kernel and copy.
 */
public final class DevicePlan implements AutoCloseable {
    /** While a driver notes what one plan's graph asks for, no thread may allocate memory or load kernels: it would be refused, and spoil the graph. */
    private static final Lock ALLOCATING = new ReentrantLock();

    /** Kernels stride over what is more; an index plus this fits an int. */
    private static final long MAX_ITEMS = 1L << 29;

    private final DeviceInfo device;
    private final DeviceArrays arrays;
    private final List<DeviceGraph> graphs;
    private final Map<DeviceGraph, Integer> indices = new HashMap<>();
    private final Set<DeviceGraph> compiled = new HashSet<>();
    private final BiPredicate<DeviceGraph, DeviceTransfer> kept;
    private TornadoExecutionPlan plan;

    /** Whether a driver is asked to replay what it was told when a graph was first executed. */
    private boolean replays;

    private TornadoExecutionResult last;
    private String lastGraph = "";
    private CompileReport report = new CompileReport(0, 0);
    private CompileListener listener = CompileListener.NONE;

    /** @param kept as {@link DeviceGraph#build} takes it */
    public DevicePlan(
            List<DeviceGraph> graphs,
            DeviceArrays arrays,
            DeviceInfo device,
            BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        this.device = device;
        this.arrays = arrays;
        this.graphs = List.copyOf(graphs);
        this.kept = kept;
        this.replays = device.backend().replaysGraphs();
        graphs.forEach(graph -> indices.put(graph, indices.size()));
        this.plan = build();
    }

    private TornadoExecutionPlan build() {
        ImmutableTaskGraph[] built =
                graphs.stream().map(graph -> graph.build(arrays, kept)).toArray(ImmutableTaskGraph[]::new);
        GridScheduler grids = new GridScheduler();
        for (DeviceGraph graph : graphs) {
            for (DeviceTask task : graph.tasks()) {
                grids.addWorkerGrid(graph.key(task), grid(task));
            }
        }
        TornadoExecutionPlan made = new TornadoExecutionPlan(built);
        made.withDevice(TornadoDevices.resolve(device.id()));
        made.withGridScheduler(grids);
        if (replays) {
            made.withCUDAGraph();
        }
        return made;
    }

    /** One dimension, whole groups: the kernels' loops stop where the items do. */
    private WorkerGrid1D grid(DeviceTask task) {
        int group = Math.min(task.group(), Integer.highestOneBit(device.maxWorkGroupSize()));
        long padded = Math.ceilDiv(Math.clamp(task.items(), 1, MAX_ITEMS), group) * (long) group;
        WorkerGrid1D grid = new WorkerGrid1D(Math.toIntExact(padded));
        grid.setLocalWork(group, 1, 1);
        return grid;
    }

    /** From now on tells of kernels as they are compiled. */
    public void tell(CompileListener compiling) {
        listener = compiling;
    }

    /** What was compiled so far. */
    public CompileReport report() {
        return report;
    }

    /**
     * @throws DeviceException if the graph cannot be compiled, does not run on the device, a copy fails, or the device runs out
     *     of memory
     */
    public void execute(DeviceGraph graph) {
        try {
            run(graph);
        } catch (RuntimeException | Error failure) {
            if (!mayGoOnWithoutReplays()) {
                throw failure;
            }
            goOnWithoutReplays(failure);
            run(graph);
        }
        compiled.add(graph);
    }

    private boolean mayGoOnWithoutReplays() {
        return replays && compiled.isEmpty();
    }

    /** A driver that notes nothing does what it is told all the same. What the first try has taken of the device's memory is the second's. */
    private void goOnWithoutReplays(Throwable failure) {
        try {
            close();
        } catch (RuntimeException | Error also) {
            also.addSuppressed(failure);
            throw also;
        }
        replays = false;
        report = new CompileReport(0, 0);
        plan = build();
    }

    private void run(DeviceGraph graph) {
        lastGraph = graph.name();
        try (DriverCalls calls = DriverCalls.of(device)) {
            if (compiled.contains(graph)) {
                last = plan.withGraph(indices.get(graph)).execute();
            } else {
                compile(graph, calls);
            }
            calls.requireSuccess(lastGraph);
        }
    }

    private void compile(DeviceGraph graph, DriverCalls calls) {
        listener.compiling(
                report.kernels(),
                graphs.stream().mapToInt(each -> each.tasks().size()).sum());
        ALLOCATING.lock();
        try (CapturedErrors errors = new CapturedErrors()) {
            plan.withProfiler(ProfilerMode.SILENT);
            last = runFirst(graph, errors);
            String log = last.getProfilerResult().getProfileLog();
            report = report.plus(CompileReport.of(graph.taskKeys(), device, log));
            plan.withoutProfiler();
        } catch (RuntimeException | Error failure) {
            if (mayGoOnWithoutReplays()) {
                calls.forgive();
            }
            throw failure;
        } finally {
            ALLOCATING.unlock();
            listener.compiled();
        }
    }

    private TornadoExecutionResult runFirst(DeviceGraph graph, CapturedErrors errors) {
        try {
            return plan.withGraph(indices.get(graph)).execute();
        } catch (RuntimeException | Error failure) {
            throw DeviceFailure.of(graph.name(), device, failure, errors, () -> culprit(graph));
        }
    }

    /** The first task that does not compile by itself. */
    private Optional<String> culprit(DeviceGraph graph) {
        return graph.tasks().stream()
                .filter(task -> !compiles(task))
                .findFirst()
                .map(graph::key);
    }

    /** Compiles a task in a plan of its own, without running it. */
    private boolean compiles(DeviceTask task) {
        TaskGraph graph = new TaskGraph("probe");
        task.addTo(graph, arrays);
        try {
            new TornadoExecutionPlan(graph.snapshot()).withPreCompilation();
            return true;
        } catch (RuntimeException | Error _) {
            return false;
        }
    }

    /**
     * Copies an array that the graph executed last has kept to the host.
     *
     * @throws DeviceException if the copy fails
     */
    public void fetch(ArrayKey<?> array) {
        try (DriverCalls calls = DriverCalls.of(device)) {
            last.transferToHost(arrays.get(array));
            calls.requireSuccess(lastGraph);
        }
    }

    /**
     * Frees the device's memory. Each graph frees what it owns, then stops at an array that it shares and whose owner freed it:
     * TornadoVM counts memory by graph, and does not free it twice.
     */
    @Override
    public void close() {
        ALLOCATING.lock();
        try (DriverCalls _ = DriverCalls.of(device)) {
            for (DeviceGraph graph : graphs) {
                try {
                    plan.withGraph(indices.get(graph)).freeDeviceMemory();
                } catch (TornadoInternalError _) {
                    // Freed by its owner.
                }
            }
        } finally {
            ALLOCATING.unlock();
        }
    }
}
