package uk.ac.manchester.tornado.api;

import io.github.tornadotransformers.emulator.EmulatedPlan;
import java.util.Arrays;
import uk.ac.manchester.tornado.api.common.TornadoDevice;
import uk.ac.manchester.tornado.api.enums.ProfilerMode;
import uk.ac.manchester.tornado.api.enums.TornadoVMBackendType;
import uk.ac.manchester.tornado.api.exceptions.TornadoExecutionPlanException;
import uk.ac.manchester.tornado.api.runtime.TornadoRuntimeProvider;

/**
 * Executes graphs on a device. The {@code with…} methods change this plan and return it; they and {@link #execute} act on the
 * selected graphs: all of them at first, one after {@link #withGraph}.
 *
 * <p>This is the stand-in: it emulates, and only inside {@link io.github.tornadotransformers.emulator.Emulator#run}; elsewhere the
 * constructor throws.
 */
public final class TornadoExecutionPlan implements AutoCloseable {
    private final EmulatedPlan plan;

    public TornadoExecutionPlan(ImmutableTaskGraph... graphs) {
        this.plan = new EmulatedPlan(
                Arrays.stream(graphs).map(ImmutableTaskGraph::emulated).toList());
    }

    /** The device with these indices. */
    public static TornadoDevice getDevice(int backendIndex, int deviceIndex) {
        return TornadoRuntimeProvider.getTornadoRuntime()
                .getBackend(backendIndex)
                .getDevice(deviceIndex);
    }

    /** The device of the selected graph with this index. */
    public TornadoDevice getDevice(int graphIndex) {
        return plan.device(graphIndex);
    }

    /** Selects one graph by its place in the constructor's arguments. */
    public TornadoExecutionPlan withGraph(int graphIndex) {
        plan.select(graphIndex);
        return this;
    }

    /** Selects all graphs. */
    public TornadoExecutionPlan withAllGraphs() {
        plan.selectAll();
        return this;
    }

    public TornadoExecutionPlan withDevice(TornadoDevice device) {
        plan.useDevice(device);
        return this;
    }

    /** Compiles the kernels now instead of at the first execution; here it only checks the graphs. */
    public TornadoExecutionPlan withPreCompilation() {
        plan.compile();
        return this;
    }

    /**
     * From the first execution of each selected graph on, has the device's driver replay what it was told then, where the backend can: CUDA and PTX. Arguments and
     * addresses stay what they were; copies read and write memory anew. Here graphs are executed anew each time; memory that a replay
     * would find gone is refused.
     */
    public TornadoExecutionPlan withCUDAGraph() {
        plan.replay();
        return this;
    }

    /** Sets the work sizes of tasks, keyed {@code graph.task}. */
    public TornadoExecutionPlan withGridScheduler(GridScheduler gridScheduler) {
        plan.useGrid(gridScheduler);
        return this;
    }

    public TornadoExecutionPlan withDefaultScheduler() {
        plan.useDefaultGrid();
        return this;
    }

    /** Measures what {@link TornadoExecutionResult#getProfilerResult} reports; without it that reports zeros. */
    public TornadoExecutionPlan withProfiler(ProfilerMode mode) {
        plan.profile(true);
        return this;
    }

    public TornadoExecutionPlan withoutProfiler() {
        plan.profile(false);
        return this;
    }

    /** Refuses to execute a graph whose arrays need more than {@code limit}, such as {@code 512MB} or {@code 2GB}. */
    public TornadoExecutionPlan withMemoryLimit(String limit) {
        plan.limitMemory(limit);
        return this;
    }

    public TornadoExecutionPlan withoutMemoryLimit() {
        plan.unlimitMemory();
        return this;
    }

    /** Passes flags to a backend's compiler of kernels; here they change nothing. */
    public TornadoExecutionPlan withCompilerFlags(TornadoVMBackendType backend, String flags) {
        return this;
    }

    /** Runs the selected graphs in order and waits for them. */
    public TornadoExecutionResult execute() {
        plan.execute();
        return new TornadoExecutionResult(plan);
    }

    /** Bytes that the selected graphs hold on the device. */
    public long getCurrentDeviceMemoryUsage() {
        return plan.deviceBytes();
    }

    /** Drops the selected graphs' copies on the device. */
    public TornadoExecutionPlan freeDeviceMemory() {
        plan.free();
        return this;
    }

    /** Frees the selected graphs' device memory, as {@link #freeDeviceMemory} does: select all graphs first. */
    @Override
    public void close() throws TornadoExecutionPlanException {
        plan.free();
    }
}
