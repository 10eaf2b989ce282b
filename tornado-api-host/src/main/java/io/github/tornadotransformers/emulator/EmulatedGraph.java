package io.github.tornadotransformers.emulator;

import io.github.tornadotransformers.emulator.AccessLog.ItemConflict;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import uk.ac.manchester.tornado.api.GridScheduler;
import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.WorkerGrid;
import uk.ac.manchester.tornado.api.exceptions.TornadoMemoryException;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** A graph together with its arrays' memory on a device. */
public final class EmulatedGraph {
    private final RecordedGraph graph;
    private final Map<TornadoNativeArray, DeviceBuffer> buffers = new LinkedHashMap<>();
    private final Set<TornadoNativeArray> transferredOnce = new LinkedHashSet<>();
    private final Map<RecordedTask, Optional<KernelMethod>> kernels = new HashMap<>();
    private long memoryLimit = Long.MAX_VALUE;
    private int executions;
    private Profile lastProfile = Profile.NONE;

    public EmulatedGraph(RecordedGraph graph) {
        this.graph = graph;
    }

    String name() {
        return graph.name();
    }

    RecordedGraph recorded() {
        return graph;
    }

    Profile lastProfile() {
        return lastProfile;
    }

    void limitMemory(long bytes) {
        memoryLimit = bytes;
    }

    Iterable<DeviceBuffer> buffers() {
        return buffers.values();
    }

    /**
     * Runs the graph once.
     *
     * @param previous the graph executed just before, or null
     * @param grids of tasks, as far as they are given
     * @param replayed whether a driver would do later what it was told at the first execution
     */
    void execute(EmulatedDevice device, EmulatedGraph previous, GridScheduler grids, boolean replayed) {
        long start = System.nanoTime();
        takeOver(previous);
        requireMemory();
        graph.arrays().forEach(array -> buffers.computeIfAbsent(array, host -> new DeviceBuffer(device, host)));
        buffers.forEach(this::requireNotFreed);
        long writeStart = System.nanoTime();
        long bytesToDevice = transferToDevice();
        long kernelStart = System.nanoTime();
        runTasks(device, grids);
        device.countTasks(graph.tasks().size());
        long readStart = System.nanoTime();
        graph.toHost().forEach(this::read);
        dropWhatNothingKeeps(replayed);
        long end = System.nanoTime();
        lastProfile = new Profile(
                end - start,
                kernelStart - writeStart,
                end - readStart,
                readStart - kernelStart,
                bytesToDevice,
                bytes(graph.toHost()));
    }

    private void takeOver(EmulatedGraph previous) {
        graph.consumed().forEach((array, source) -> {
            if (previous != this) {
                DeviceBuffer buffer = handedOver(array, source, previous);
                DeviceBuffer before = buffers.put(array, buffer);
                if (before != null && before != buffer) {
                    throw graph.misuse(
                            "%s is elsewhere on the device than at the graph's first execution; a replay would not look for it there",
                            graph.describe(array));
                }
            } else if (!buffers.containsKey(array)) {
                throw graph.misuse("%s is consumed, but this graph freed its memory", graph.describe(array));
            }
        });
    }

    private DeviceBuffer handedOver(TornadoNativeArray array, String source, EmulatedGraph previous) {
        String what = graph.describe(array);
        String from = source.equals(RecordedGraph.ANY_GRAPH) ? "the graph executed before" : "graph " + source;
        if (previous == null) {
            throw graph.misuse("%s is consumed from %s, but none was executed before in its own execute()", what, from);
        }
        if (!source.equals(RecordedGraph.ANY_GRAPH) && !source.equals(previous.name())) {
            throw graph.misuse(
                    "%s is consumed from %s, but graph %s was executed just before", what, from, previous.name());
        }
        if (!previous.graph.kept().contains(array)) {
            throw graph.misuse("%s is consumed from graph %s, which does not persist it", what, previous.name());
        }
        DeviceBuffer buffer = previous.buffers.get(array);
        if (buffer == null || buffer.isFreed()) {
            throw graph.misuse("%s is consumed from graph %s, which freed its memory", what, previous.name());
        }
        return buffer;
    }

    /** TornadoVM frees an array after each execution that no transfer names and that is neither persisted nor consumed. */
    private void dropWhatNothingKeeps(boolean replayed) {
        buffers.entrySet().removeIf(entry -> {
            TornadoNativeArray array = entry.getKey();
            boolean dropped = !graph.toDevice().containsKey(array)
                    && !graph.toHost().contains(array)
                    && !graph.kept().contains(array)
                    && !graph.consumed().containsKey(array);
            if (dropped && replayed) {
                throw graph.misuse(
                        "%s is gone after the execution; a replay would use its memory", graph.describe(array));
            }
            if (dropped) {
                entry.getValue().free();
            }
            return dropped;
        });
    }

    private void requireMemory() {
        long needed = bytes(graph.arrays().toList());
        if (needed > memoryLimit) {
            throw new TornadoMemoryException("graph %s needs %d bytes on the device, more than withMemoryLimit's %d"
                    .formatted(name(), needed, memoryLimit));
        }
    }

    private void requireNotFreed(TornadoNativeArray array, DeviceBuffer buffer) {
        if (buffer.isFreed()) {
            throw graph.misuse("a graph that shares the memory of %s freed it", graph.describe(array));
        }
    }

    private long transferToDevice() {
        long bytes = 0;
        for (var entry : graph.toDevice().entrySet()) {
            TornadoNativeArray array = entry.getKey();
            boolean due = switch (entry.getValue()) {
                case FIRST_EXECUTION -> transferredOnce.add(array);
                case EVERY_EXECUTION -> true;
                case UNDER_DEMAND -> false;
            };
            if (due) {
                requireAlive(array);
                buffers.get(array).write(array);
                bytes += array.getNumBytesOfSegment();
            }
        }
        return bytes;
    }

    private void requireAlive(TornadoNativeArray array) {
        if (!array.getSegmentWithHeader().scope().isAlive()) {
            throw graph.misuse("the host memory of %s was freed", graph.describe(array));
        }
    }

    /**
     * Items take another order at each execution. What they touch is logged at the first one, and at the second, fourth, eighth …:
     * for a position in a text may bring out what its beginning does not.
     */
    private void runTasks(EmulatedDevice device, GridScheduler grids) {
        ItemOrder order = ItemOrder.of(executions);
        executions++;
        boolean logs = Integer.bitCount(executions) == 1;
        Map<RecordedTask, TaskRun> runs = new LinkedHashMap<>();
        for (RecordedTask task : graph.tasks()) {
            TaskRun run = new TaskRun(order);
            String key = name() + "." + task.id();
            run(task, run, logs, grids.get(key));
            if (!task.isForGroups()) {
                device.requireCovers(key, grids.get(key), run.items());
            }
            runs.put(task, run);
        }
        if (logs) {
            requireUse(runs);
        }
    }

    private void run(RecordedTask task, TaskRun run, boolean logs, WorkerGrid grid) {
        try {
            if (task.isForGroups()) {
                runGroups(task, run, logs, grid);
            } else {
                Items.run(run, () -> runKernel(task, logs));
            }
        } catch (ItemConflict conflict) {
            throw graph.misuse(
                    "task %s: of argument %s %s; its result depends on the order of items",
                    task.id(),
                    positions(task, array -> buffers.get(array).memory() == conflict.array()),
                    conflict.getMessage());
        } catch (RuntimeException failure) {
            EmulatorException misuse = graph.misuse("task %s failed: %s%s", task.id(), failure, neverWritten(task));
            misuse.initCause(failure);
            throw misuse;
        }
        String neverWritten = neverWritten(task);
        if (!neverWritten.isEmpty()) {
            throw graph.misuse("task %s%s", task.id(), neverWritten);
        }
    }

    private void runGroups(RecordedTask task, TaskRun run, boolean logs, WorkerGrid grid) {
        if (grid == null || grid.getLocalWork() == null || grid.dimension() != 1) {
            throw graph.misuse(
                    "task %s: its kernel takes a KernelContext, and a grid of groups is not given", task.id());
        }
        int size = Math.toIntExact(grid.getLocalWork()[0]);
        int groups = Math.toIntExact(grid.getGlobalWork()[0] / size);
        WorkGroups.run(groups, size, run.order(), run::enter, () -> Items.run(run, () -> runKernel(task, logs)));
    }

    private void runKernel(RecordedTask task, boolean logs) {
        kernels.computeIfAbsent(task, KernelMethod::of)
                .ifPresentOrElse(
                        kernel -> kernel.run(
                                KernelLoader.of(logs),
                                task.arguments().stream().map(this::deviceCopy).toArray()),
                        () -> task.body().run(this::deviceCopy));
    }

    @SuppressWarnings("unchecked")
    private <T> T deviceCopy(T argument) {
        return switch (argument) {
            case TornadoNativeArray array -> (T) buffers.get(array).memory();
            case KernelContext _ -> (T) new KernelContext();
            default -> argument;
        };
    }

    private String neverWritten(RecordedTask task) {
        String positions = positions(task, array -> !buffers.get(array).isDefined());
        return positions.isEmpty()
                ? ""
                : ": it uses argument %s, which nothing transferred and no task wrote".formatted(positions);
    }

    private static String positions(RecordedTask task, Predicate<TornadoNativeArray> wanted) {
        return task.arrays().stream()
                .filter(wanted)
                .map(array -> "%d (%s of %d elements)"
                        .formatted(task.position(array), array.getClass().getSimpleName(), array.getSize()))
                .collect(Collectors.joining(" and argument "));
    }

    /** Refuses a result that nothing reads: no later task, no transfer, no other graph. */
    private void requireUse(Map<RecordedTask, TaskRun> runs) {
        Map<TornadoNativeArray, RecordedTask> unused = new LinkedHashMap<>();
        runs.forEach((task, run) -> task.arrays().forEach(array -> {
            TornadoNativeArray memory = buffers.get(array).memory();
            if (run.reads(memory)) {
                unused.remove(array);
            }
            if (run.writes(memory)) {
                unused.put(array, task);
            }
        }));
        unused.forEach((array, task) -> {
            if (!graph.toHost().contains(array)
                    && !graph.kept().contains(array)
                    && !graph.consumed().containsKey(array)) {
                throw graph.misuse(
                        "task %s writes argument %s, which no task reads after it and nothing copies or keeps",
                        task.id(), positions(task, each -> each == array));
            }
        });
    }

    private void read(TornadoNativeArray array) {
        requireAlive(array);
        buffers.get(array).read(array);
    }

    /** Copies {@code array} out if this graph offers it. */
    boolean transferToHost(TornadoNativeArray array) {
        boolean offered = graph.kept().contains(array) || graph.toHost().contains(array);
        if (offered) {
            DeviceBuffer buffer = buffers.get(array);
            if (buffer == null || buffer.isFreed()) {
                throw graph.misuse("%s cannot be copied to the host, it is not on the device", graph.describe(array));
            }
            requireAlive(array);
            buffer.read(array);
        }
        return offered;
    }

    void free() {
        buffers.values().forEach(DeviceBuffer::free);
        buffers.clear();
        transferredOnce.clear();
    }

    private static long bytes(Iterable<TornadoNativeArray> arrays) {
        long bytes = 0;
        for (TornadoNativeArray array : arrays) {
            bytes += array.getNumBytesOfSegment();
        }
        return bytes;
    }
}
