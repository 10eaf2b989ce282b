package io.github.tornadotransformers.emulator;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import uk.ac.manchester.tornado.api.GridScheduler;
import uk.ac.manchester.tornado.api.WorkerGrid;
import uk.ac.manchester.tornado.api.common.TornadoDevice;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** Executes graphs one after the other and remembers which came last. */
public final class EmulatedPlan {
    private static final Pattern SIZE = Pattern.compile("(\\d+)(MB|GB)");

    private final EmulatedDevice device;
    private final List<EmulatedGraph> graphs;
    private List<EmulatedGraph> selected;
    private EmulatedGraph previous;
    private GridScheduler grids = new GridScheduler();
    private boolean profiles;
    private boolean replays;

    /**
     * A plan on the emulator's device.
     *
     * @throws EmulatorException outside the emulator, or if two graphs have the same name
     */
    public EmulatedPlan(List<EmulatedGraph> graphs) {
        this.device = Emulator.device()
                .orElseThrow(
                        () -> new EmulatorException("TornadoVM is not here: this JVM holds its compile-time stand-in,"
                                + " which runs nothing; start it with TornadoVM's launcher, tornado"));
        this.graphs = List.copyOf(graphs);
        this.selected = this.graphs;
        Set<String> names = new HashSet<>();
        for (EmulatedGraph graph : graphs) {
            if (!names.add(graph.name())) {
                throw new EmulatorException("the plan has two graphs named " + graph.name());
            }
        }
    }

    public void select(int index) {
        if (index < 0 || index >= graphs.size()) {
            throw new EmulatorException("the plan has %d graphs, but none of index %d".formatted(graphs.size(), index));
        }
        selected = List.of(graphs.get(index));
    }

    public void selectAll() {
        selected = graphs;
    }

    public TornadoDevice device(int graphIndex) {
        if (graphIndex < 0 || graphIndex >= selected.size()) {
            throw new EmulatorException(
                    "%d graphs are selected, but none of index %d".formatted(selected.size(), graphIndex));
        }
        return device;
    }

    public void useDevice(TornadoDevice wanted) {
        if (wanted != device) {
            throw new EmulatorException("the emulator has one device, and this is not it: " + wanted);
        }
    }

    /** Checks what an execution would check before it runs a task. */
    public void compile() {
        selected.forEach(this::requireGrids);
    }

    /**
     * Sets the grids for tasks of all graphs.
     *
     * @throws EmulatorException if a key is no task's, or a grid does not fit the device
     */
    public void useGrid(GridScheduler wanted) {
        for (String key : wanted.keySet()) {
            if (graphs.stream().noneMatch(graph -> isTask(graph, key))) {
                throw new EmulatorException("the grid scheduler has a grid for %s, which is no task of this plan: %s"
                        .formatted(key, graphs.stream().map(EmulatedGraph::name).toList()));
            }
        }
        grids = wanted;
        graphs.forEach(this::requireGrids);
    }

    public void useDefaultGrid() {
        grids = new GridScheduler();
    }

    private static boolean isTask(EmulatedGraph graph, String key) {
        return graph.recorded().tasks().stream().anyMatch(task -> key.equals(graph.name() + "." + task.id()));
    }

    private void requireGrids(EmulatedGraph graph) {
        for (RecordedTask task : graph.recorded().tasks()) {
            WorkerGrid grid = grids.get(graph.name() + "." + task.id());
            if (grid != null) {
                device.requireFits(graph.name() + "." + task.id(), grid);
            }
        }
    }

    /** Has graphs replayed, which makes no difference unless the device refuses it. */
    public void replay() {
        replays = true;
    }

    public void profile(boolean on) {
        profiles = on;
    }

    /** What the last execution of the selected graphs took, or zeros where it was not measured. */
    public Profile profile() {
        return profiles
                ? selected.stream().map(EmulatedGraph::lastProfile).reduce(Profile.NONE, Profile::plus)
                : Profile.NONE;
    }

    /** The tasks of the selected graphs as TornadoVM's profiler lists them, or nothing where it was not measured. */
    public String profileLog() {
        return profiles ? selected.stream().map(EmulatedPlan::profileLog).collect(Collectors.joining("\n")) : "";
    }

    private static String profileLog(EmulatedGraph graph) {
        return graph.recorded().tasks().stream()
                .map(task -> "\"%s.%s\": {\"BACKEND\": \"VIRTUAL\", \"DEVICE_ID\": \"0:0\", \"DEVICE\": \"%s\"}"
                        .formatted(graph.name(), task.id(), EmulatedDevice.NAME))
                .collect(Collectors.joining(", ", "{\"" + graph.name() + "\": {", "}}"));
    }

    public void limitMemory(String limit) {
        Matcher size = SIZE.matcher(limit);
        if (!size.matches()) {
            throw new EmulatorException("withMemoryLimit takes a size such as 512MB or 2GB, not " + limit);
        }
        long unit = size.group(2).equals("MB") ? 1_000_000 : 1_000_000_000;
        long bytes = Math.multiplyExact(Long.parseLong(size.group(1)), unit);
        selected.forEach(graph -> graph.limitMemory(bytes));
    }

    public void unlimitMemory() {
        selected.forEach(graph -> graph.limitMemory(Long.MAX_VALUE));
    }

    /** Runs the selected graphs in order; only then does the last of them count as executed before. */
    public void execute() {
        for (EmulatedGraph graph : selected) {
            requireGrids(graph);
            graph.execute(device, previous, grids, replays);
            device.executed(replays);
            if (replays && device.refusesReplays()) {
                throw new EmulatorException("graph %s cannot be replayed".formatted(graph.name()));
            }
        }
        previous = selected.getLast();
    }

    public void transferToHost(Object... objects) {
        for (Object object : objects) {
            if (!(object instanceof TornadoNativeArray array)) {
                throw new EmulatorException(
                        "transferToHost is given %s, which is no TornadoVM array".formatted(object));
            }
            boolean found = false;
            for (EmulatedGraph graph : selected) {
                found |= graph.transferToHost(array);
            }
            if (!found) {
                throw new EmulatorException("none of the selected graphs %s offers a %s of %d elements under demand"
                        .formatted(
                                selected.stream().map(EmulatedGraph::name).toList(),
                                array.getClass().getSimpleName(),
                                array.getSize()));
            }
        }
    }

    public long deviceBytes() {
        Set<DeviceBuffer> distinct = new HashSet<>();
        selected.forEach(graph -> graph.buffers().forEach(distinct::add));
        return distinct.stream().mapToLong(DeviceBuffer::bytes).sum();
    }

    public void free() {
        selected.forEach(EmulatedGraph::free);
    }
}
