package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.FIRST_EXECUTION;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.UNDER_DEMAND;

import java.lang.foreign.Arena;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import uk.ac.manchester.tornado.api.GridScheduler;
import uk.ac.manchester.tornado.api.ImmutableTaskGraph;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.WorkerGrid;
import uk.ac.manchester.tornado.api.WorkerGrid1D;
import uk.ac.manchester.tornado.api.enums.ProfilerMode;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;
import uk.ac.manchester.tornado.api.exceptions.TornadoMemoryException;
import uk.ac.manchester.tornado.api.exceptions.TornadoOutOfMemoryException;
import uk.ac.manchester.tornado.api.exceptions.TornadoTaskRuntimeException;
import uk.ac.manchester.tornado.api.runtime.TornadoRuntimeProvider;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

class EmulatorTest {
    private final EmulatedDevice device = new EmulatedDevice();
    private final FloatArray in = FloatArray.fromElements(1f, 2f, 3f, 4f);
    private final FloatArray out = FloatArray.fromElements(-1f, -1f, -1f, -1f);

    private TornadoExecutionPlan plan(TaskGraph... graphs) {
        ImmutableTaskGraph[] snapshots =
                Arrays.stream(graphs).map(TaskGraph::snapshot).toArray(ImmutableTaskGraph[]::new);
        return Emulator.call(device, () -> new TornadoExecutionPlan(snapshots));
    }

    private TaskGraph copyGraph(int transferMode) {
        return new TaskGraph("g")
                .transferToDevice(transferMode, in)
                .task("copy", Kernels::copy, in, out, 4)
                .transferToHost(EVERY_EXECUTION, out);
    }

    // Where the emulator is

    @Test
    void outsideTheEmulatorThereIsNoBackend() {
        assertThat(TornadoRuntimeProvider.getTornadoRuntime().getNumBackends()).isZero();
    }

    @Test
    void outsideTheEmulatorAPlanIsRefused() {
        TaskGraph graph = copyGraph(EVERY_EXECUTION);
        assertThatThrownBy(() -> new TornadoExecutionPlan(graph.snapshot()))
                .isInstanceOf(EmulatorException.class)
                .hasMessageStartingWith("TornadoVM is not here");
    }

    @Test
    void insideTheEmulatorItsDeviceIsTheDefault() {
        Emulator.run(
                device,
                () -> assertThat(TornadoRuntimeProvider.getTornadoRuntime().getDefaultDevice())
                        .isSameAs(device));
    }

    // Transfers

    @Test
    void aTransferredArrayReachesTheTaskAndItsResultTheHost() {
        plan(copyGraph(EVERY_EXECUTION)).execute();
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    @Test
    void aForgottenTransferToTheDeviceIsNamed() {
        TaskGraph graph =
                new TaskGraph("g").task("copy", Kernels::copy, in, out, 4).transferToHost(EVERY_EXECUTION, out);
        TornadoExecutionPlan plan = plan(graph);
        assertThatThrownBy(plan::execute)
                .hasMessage(
                        "graph g: task copy: it uses argument 1 (FloatArray of 4 elements) and argument 2 (FloatArray of 4"
                                + " elements), which nothing transferred and no task wrote");
    }

    @Test
    void elementsThatNothingWroteAreNan() {
        TaskGraph graph = new TaskGraph("g")
                .transferToDevice(EVERY_EXECUTION, in)
                .task("half", Kernels::copy, in, out, 2)
                .transferToHost(EVERY_EXECUTION, out);
        plan(graph).execute();
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, Float.NaN, Float.NaN);
    }

    @Test
    void withoutATransferToTheHostTheHostKeepsItsValues() {
        TaskGraph graph =
                new TaskGraph("g").transferToDevice(EVERY_EXECUTION, in).task("copy", Kernels::copy, in, out, 4);
        plan(graph).execute();
        assertThat(out.toHeapArray()).containsOnly(-1f);
    }

    @Test
    void firstExecutionTransfersOnce() {
        TornadoExecutionPlan plan = plan(copyGraph(FIRST_EXECUTION));
        plan.execute();
        in.init(9f);
        plan.execute();
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    @Test
    void firstExecutionTransfersAgainAfterTheMemoryWasFreed() {
        TornadoExecutionPlan plan = plan(copyGraph(FIRST_EXECUTION));
        plan.execute();
        in.init(9f);
        plan.freeDeviceMemory();
        plan.execute();
        assertThat(out.toHeapArray()).containsOnly(9f);
    }

    @Test
    void everyExecutionTransfersEachTime() {
        TornadoExecutionPlan plan = plan(copyGraph(EVERY_EXECUTION));
        plan.execute();
        in.init(9f);
        plan.execute();
        assertThat(out.toHeapArray()).containsOnly(9f);
    }

    @Test
    void underDemandCopiesToTheHostWhenAsked() {
        TaskGraph graph = new TaskGraph("g")
                .transferToDevice(EVERY_EXECUTION, in)
                .task("copy", Kernels::copy, in, out, 4)
                .transferToHost(UNDER_DEMAND, out);
        var result = plan(graph).execute();
        assertThat(out.toHeapArray()).containsOnly(-1f);
        result.transferToHost(out);
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    @Test
    void anArrayThatIsNotOfferedUnderDemandIsRefused() {
        var result = plan(copyGraph(EVERY_EXECUTION)).execute();
        assertThatThrownBy(() -> result.transferToHost(in))
                .hasMessage("none of the selected graphs [g] offers a FloatArray of 4 elements under demand");
    }

    @Test
    void underDemandNeverCopiesToTheDevice() {
        TornadoExecutionPlan plan = plan(copyGraph(UNDER_DEMAND));
        assertThatThrownBy(plan::execute).hasMessageContaining("task copy: it uses argument 1");
    }

    @Test
    void aFreedHostArrayIsNamed() {
        FloatArray closed;
        try (var arena = Arena.ofConfined()) {
            closed = FloatArray.fromSegmentShallow(arena.allocate(FloatArray.ARRAY_HEADER + 16, 8));
        }
        TaskGraph graph =
                new TaskGraph("g").transferToDevice(EVERY_EXECUTION, closed).task("add", Kernels::add, closed, 1f);
        TornadoExecutionPlan plan = plan(graph);
        assertThatThrownBy(plan::execute)
                .hasMessage("graph g: the host memory of argument 1 of task add (FloatArray of 4 elements) was freed");
    }

    // Tasks

    @Test
    void aScalarIsFrozenWhenTheTaskIsAdded() {
        Float[] amount = {1f};
        TaskGraph graph = new TaskGraph("g")
                .transferToDevice(EVERY_EXECUTION, in)
                .task("add", Kernels::add, in, amount[0])
                .transferToHost(EVERY_EXECUTION, in);
        TornadoExecutionPlan plan = plan(graph);
        amount[0] = 100f;
        plan.execute();
        assertThat(in.toHeapArray()).containsExactly(2f, 3f, 4f, 5f);
    }

    @Test
    void aLambdaThatCapturesIsRefused() {
        float amount = in.get(0);
        assertThatThrownBy(() -> new TaskGraph("g").task("add", x -> Kernels.add(x, amount), in))
                .hasMessage(
                        "graph g: task add: its method must be a reference to a static method, or a lambda that captures"
                                + " nothing");
    }

    @Test
    void aLambdaThatCapturesNothingIsATask() {
        TaskGraph graph = new TaskGraph("g")
                .transferToDevice(EVERY_EXECUTION, in)
                .task("add", x -> Kernels.add(x, 1f), in)
                .transferToHost(EVERY_EXECUTION, in);
        plan(graph).execute();
        assertThat(in.toHeapArray()).containsExactly(2f, 3f, 4f, 5f);
    }

    @Test
    void twoTasksOfOneNameAreRefused() {
        TaskGraph graph = new TaskGraph("g").task("add", Kernels::add, in, 1f);
        assertThatExceptionOfType(TornadoTaskRuntimeException.class)
                .isThrownBy(() -> graph.task("add", Kernels::add, in, 2f))
                .withMessage("graph g: there is a task add already");
    }

    @Test
    void aJavaArrayIsNoArgument() {
        assertThatThrownBy(() -> new TaskGraph("g").task("t", (float[] x) -> {}, new float[1]))
                .hasMessage("graph g: task t: argument 1 is a [F; a device takes numbers and TornadoVM's arrays");
    }

    @Test
    void aTaskThatThrowsIsNamed() {
        TaskGraph graph =
                new TaskGraph("g").transferToDevice(EVERY_EXECUTION, in, out).task("copy", Kernels::copy, in, out, 5);
        TornadoExecutionPlan plan = plan(graph);
        assertThatThrownBy(plan::execute)
                .isInstanceOf(EmulatorException.class)
                .hasMessageStartingWith("graph g: task copy failed: java.lang.IndexOutOfBoundsException")
                .hasCauseInstanceOf(IndexOutOfBoundsException.class);
    }

    // Several graphs in a plan

    @Test
    void twoGraphsHaveSeparateCopiesOfOneArray() {
        TaskGraph change =
                new TaskGraph("change").transferToDevice(FIRST_EXECUTION, in).task("add", Kernels::add, in, 10f);
        TornadoExecutionPlan plan = plan(change, copyGraph(FIRST_EXECUTION));
        plan.withGraph(0).execute();
        plan.withGraph(1).execute();
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    private TaskGraph producer() {
        return new TaskGraph("producer")
                .transferToDevice(EVERY_EXECUTION, in)
                .task("add", Kernels::add, in, 10f)
                .persistOnDevice(in);
    }

    private TaskGraph consumer() {
        return new TaskGraph("consumer")
                .consumeFromDevice("producer", in)
                .task("copy", Kernels::copy, in, out, 4)
                .persistOnDevice(in)
                .transferToHost(EVERY_EXECUTION, out);
    }

    @Test
    void aConsumerSeesWhatTheGraphBeforePersisted() {
        TornadoExecutionPlan plan = plan(producer(), consumer());
        plan.withGraph(0).execute();
        plan.withGraph(1).execute();
        assertThat(out.toHeapArray()).containsExactly(11f, 12f, 13f, 14f);
    }

    @Test
    void aConsumerThatNamesNoGraphTakesFromTheOneBefore() {
        TaskGraph consumer = new TaskGraph("consumer")
                .consumeFromDevice(in)
                .task("copy", Kernels::copy, in, out, 4)
                .transferToHost(EVERY_EXECUTION, out);
        TornadoExecutionPlan plan = plan(producer(), consumer);
        plan.withGraph(0).execute();
        plan.withGraph(1).execute();
        assertThat(out.toHeapArray()).containsExactly(11f, 12f, 13f, 14f);
    }

    @Test
    void aConsumerThatIsExecutedFirstIsNamed() {
        TornadoExecutionPlan plan = plan(producer(), consumer()).withGraph(1);
        assertThatThrownBy(plan::execute)
                .hasMessage(
                        "graph consumer: argument 1 of task copy (FloatArray of 4 elements) is consumed from graph producer,"
                                + " but none was executed before in its own execute()");
    }

    @Test
    void graphsOfOneExecuteHandNothingOn() {
        TornadoExecutionPlan plan = plan(producer(), consumer());
        assertThatThrownBy(plan::execute).hasMessageContaining("but none was executed before in its own execute()");
    }

    @Test
    void aConsumerAfterAnotherGraphIsNamed() {
        FloatArray x = FloatArray.fromElements(1f);
        TaskGraph other =
                new TaskGraph("other").transferToDevice(EVERY_EXECUTION, x).task("add", Kernels::add, x, 1f);
        TornadoExecutionPlan plan = plan(producer(), consumer(), other);
        plan.withGraph(0).execute();
        plan.withGraph(2).execute();
        plan.withGraph(1);
        assertThatThrownBy(plan::execute)
                .hasMessage(
                        "graph consumer: argument 1 of task copy (FloatArray of 4 elements) is consumed from graph producer,"
                                + " but graph other was executed just before");
    }

    @Test
    void whatWasNotPersistedCannotBeConsumed() {
        TaskGraph producer =
                new TaskGraph("producer").transferToDevice(EVERY_EXECUTION, in).task("add", Kernels::add, in, 10f);
        TornadoExecutionPlan plan = plan(producer, consumer());
        plan.withGraph(0).execute();
        plan.withGraph(1);
        assertThatThrownBy(plan::execute)
                .hasMessage(
                        "graph consumer: argument 1 of task copy (FloatArray of 4 elements) is consumed from graph producer,"
                                + " which does not persist it");
    }

    @Test
    void whatWasFreedCannotBeConsumed() {
        TornadoExecutionPlan plan = plan(producer(), consumer());
        plan.withGraph(0).execute();
        plan.freeDeviceMemory();
        plan.withGraph(1);
        assertThatThrownBy(plan::execute)
                .hasMessageEndingWith("is consumed from graph producer, which freed its memory");
    }

    @Test
    void aBlockReplaysItsLayersOnTheDevice() {
        FloatArray x = FloatArray.fromElements(1f, 2f);
        FloatArray weights = FloatArray.fromElements(2f, 3f, 5f);
        IntArray layer = IntArray.fromElements(0);
        TaskGraph embed = new TaskGraph("embed")
                .transferToDevice(EVERY_EXECUTION, x, layer)
                .task("touch", (FloatArray a, IntArray b) -> Kernels.add(a, b.get(0)), x, layer)
                .persistOnDevice(x, layer);
        TaskGraph block = new TaskGraph("block")
                .consumeFromDevice("embed", x, layer)
                .transferToDevice(FIRST_EXECUTION, weights)
                .task("scale", Kernels::scaleByLayer, x, weights, layer)
                .task("next", Kernels::increment, layer)
                .persistOnDevice(x);
        TaskGraph head = new TaskGraph("head")
                .consumeFromDevice("block", x)
                .task("add", Kernels::add, x, 0.5f)
                .transferToHost(EVERY_EXECUTION, x);
        TornadoExecutionPlan plan = plan(embed, block, head);
        for (int token = 1; token <= 3; token++) {
            x.set(0, token);
            x.set(1, 2 * token);
            plan.withGraph(0).execute();
            for (int i = 0; i < 3; i++) {
                plan.withGraph(1).execute();
            }
            plan.withGraph(2).execute();
            assertThat(x.toHeapArray()).containsExactly(token * 30 + 0.5f, token * 60 + 0.5f);
        }
        assertThat(layer.get(0)).isZero();
    }

    // Grids

    private EmulatorException refusal(String key, WorkerGrid grid) {
        TornadoExecutionPlan plan = plan(copyGraph(EVERY_EXECUTION));
        GridScheduler grids = new GridScheduler(key, grid);
        return catchThrowableOfType(EmulatorException.class, () -> plan.withGridScheduler(grids));
    }

    private static WorkerGrid grid(int global, int local) {
        WorkerGrid grid = new WorkerGrid1D(global);
        grid.setLocalWork(local, 1, 1);
        return grid;
    }

    @Test
    void aGridThatFitsIsAccepted() {
        assertThat(refusal("g.copy", grid(64, 32))).isNull();
    }

    @Test
    void aGridForAnUnknownTaskIsNamed() {
        assertThat(refusal("g.paste", grid(64, 32)))
                .hasMessage("the grid scheduler has a grid for g.paste, which is no task of this plan: [g]");
    }

    @Test
    void groupsThatDoNotDivideAreNamed() {
        assertThat(refusal("g.copy", grid(64, 48)))
                .hasMessage("g.copy: groups of 48 do not divide 64 work items along dimension 0");
    }

    @Test
    void aGridWithoutWorkIsNamed() {
        assertThat(refusal("g.copy", new WorkerGrid1D(0)))
                .hasMessage("g.copy: 0 work items along dimension 0; there must be one at least");
    }

    @Test
    void groupsLargerThanTheDeviceAllowsAreNamed() {
        assertThat(refusal("g.copy", grid(4096, 2048)))
                .hasMessage("g.copy: groups of 2048 work items, but the device allows 1024");
    }

    // Memory and measurement

    @Test
    void aBufferLargerThanTheDeviceAllowsIsRefused() {
        EmulatedDevice small = new EmulatedDevice(new DeviceLimits(TornadoDeviceType.GPU, 1000, 24, 64, true));
        TaskGraph graph = copyGraph(EVERY_EXECUTION);
        TornadoExecutionPlan plan = Emulator.call(small, () -> new TornadoExecutionPlan(graph.snapshot()));
        assertThatExceptionOfType(TornadoOutOfMemoryException.class).isThrownBy(plan::execute);
    }

    @Test
    void aPlanRefusesMoreThanItsMemoryLimit() {
        FloatArray large = new FloatArray(300_000);
        TaskGraph graph =
                new TaskGraph("g").transferToDevice(EVERY_EXECUTION, large).task("zero", Kernels::zero, large);
        TornadoExecutionPlan plan = plan(graph).withMemoryLimit("1MB");
        assertThatExceptionOfType(TornadoMemoryException.class)
                .isThrownBy(plan::execute)
                .withMessage("graph g needs 1200000 bytes on the device, more than withMemoryLimit's 1000000");
    }

    @Test
    void closingAPlanReturnsItsMemory() throws Exception {
        try (TornadoExecutionPlan plan = plan(copyGraph(EVERY_EXECUTION))) {
            plan.execute();
            assertThat(device.usedBytes()).isEqualTo(2 * (16 + FloatArray.ARRAY_HEADER));
        }
        assertThat(device.usedBytes()).isZero();
    }

    @Test
    void theDeviceCountsWhatCrossesTheBus() {
        TornadoExecutionPlan plan = plan(copyGraph(FIRST_EXECUTION));
        plan.execute();
        plan.execute();
        assertThat(device.bytesToDevice()).isEqualTo(16);
        assertThat(device.bytesToHost()).isEqualTo(32);
        assertThat(device.tasksRun()).isEqualTo(2);
    }

    @Test
    void theProfilerReportsTheLastExecution() {
        TornadoExecutionPlan plan = plan(copyGraph(FIRST_EXECUTION)).withProfiler(ProfilerMode.SILENT);
        assertThat(plan.execute().getProfilerResult().getTotalBytesCopyIn()).isEqualTo(16);
        assertThat(plan.execute().getProfilerResult().getTotalBytesCopyIn()).isZero();
    }

    @Test
    void withoutAProfilerNothingIsReported() {
        assertThat(plan(copyGraph(FIRST_EXECUTION))
                        .execute()
                        .getProfilerResult()
                        .getTotalBytesCopyIn())
                .isZero();
    }
}
