package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.FIRST_EXECUTION;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.UNDER_DEMAND;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.TornadoExecutionResult;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

@OnEmulator
class TransferTest {
    private final FloatArray in = FloatArray.fromElements(1f, 2f, 3f, 4f);
    private final FloatArray out = FloatArray.fromElements(-1f, -1f, -1f, -1f);

    private TaskGraph copy(int transferMode) {
        return new TaskGraph("g").transferToDevice(transferMode, in).task("copy", Kernels::copy, in, out, 4);
    }

    private TornadoExecutionPlan copyAndReturn(int transferMode) {
        return Plans.of(copy(transferMode).transferToHost(EVERY_EXECUTION, out));
    }

    /** A driver that replays the graph would use memory that is others' by then. */
    @Test
    void whatIsReplayedMayNotLoseItsMemory() {
        FloatArray between = new FloatArray(4);
        Plans.of(throughAnother(between)).execute();
        TornadoExecutionPlan replayed = Plans.of(throughAnother(between)).withCUDAGraph();
        assertThatThrownBy(replayed::execute)
                .hasMessage("graph g: argument 2 of task first (FloatArray of 4 elements) is gone after the execution;"
                        + " a replay would use its memory");
        Plans.of(throughAnother(between).persistOnDevice(between))
                .withCUDAGraph()
                .execute();
    }

    private TaskGraph throughAnother(FloatArray between) {
        return new TaskGraph("g")
                .transferToDevice(EVERY_EXECUTION, in)
                .task("first", Kernels::copy, in, between, 4)
                .task("second", Kernels::copy, between, out, 4)
                .transferToHost(EVERY_EXECUTION, out);
    }

    @Test
    void aTransferredArrayReachesTheTaskAndItsResultTheHost() {
        copyAndReturn(EVERY_EXECUTION).execute();
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    @Test
    void aForgottenTransferToTheDeviceIsNamed() {
        TornadoExecutionPlan plan = Plans.of(
                new TaskGraph("g").task("copy", Kernels::copy, in, out, 4).transferToHost(EVERY_EXECUTION, out));
        assertThatThrownBy(plan::execute)
                .hasMessage(
                        "graph g: task copy: it uses argument 1 (FloatArray of 4 elements) and argument 2 (FloatArray of 4"
                                + " elements), which nothing transferred and no task wrote");
    }

    @Test
    void elementsThatNothingWroteAreNan() {
        Plans.of(new TaskGraph("g")
                        .transferToDevice(EVERY_EXECUTION, in)
                        .task("half", Kernels::copy, in, out, 2)
                        .transferToHost(EVERY_EXECUTION, out))
                .execute();
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, Float.NaN, Float.NaN);
    }

    @Test
    void aResultThatNothingCopiesOrKeepsIsRefused() {
        TornadoExecutionPlan plan = Plans.of(copy(EVERY_EXECUTION));
        assertThatThrownBy(plan::execute)
                .hasMessage(
                        "graph g: task copy writes argument 2 (FloatArray of 4 elements), which no task reads after it and"
                                + " nothing copies or keeps");
    }

    @Test
    void aResultThatALaterTaskReadsIsOfUse() {
        FloatArray last = new FloatArray(4);
        Plans.of(copy(EVERY_EXECUTION).task("on", Kernels::copy, out, last, 4).transferToHost(EVERY_EXECUTION, last))
                .execute();
        assertThat(last.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    @Test
    void firstExecutionTransfersOnce() {
        TornadoExecutionPlan plan = copyAndReturn(FIRST_EXECUTION);
        plan.execute();
        in.init(9f);
        plan.execute();
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    @Test
    void firstExecutionTransfersAgainAfterTheMemoryWasFreed() {
        TornadoExecutionPlan plan = copyAndReturn(FIRST_EXECUTION);
        plan.execute();
        in.init(9f);
        plan.freeDeviceMemory();
        plan.execute();
        assertThat(out.toHeapArray()).containsOnly(9f);
    }

    @Test
    void everyExecutionTransfersEachTime() {
        TornadoExecutionPlan plan = copyAndReturn(EVERY_EXECUTION);
        plan.execute();
        in.init(9f);
        plan.execute();
        assertThat(out.toHeapArray()).containsOnly(9f);
    }

    @Test
    void underDemandCopiesToTheHostWhenAsked() {
        TornadoExecutionResult result = Plans.of(copy(EVERY_EXECUTION).transferToHost(UNDER_DEMAND, out))
                .execute();
        assertThat(out.toHeapArray()).containsOnly(-1f);
        result.transferToHost(out);
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    @Test
    void aPersistedArrayCanBeAskedFor() {
        Plans.of(copy(EVERY_EXECUTION).persistOnDevice(out)).execute().transferToHost(out);
        assertThat(out.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    @Test
    void anArrayThatIsNotOfferedUnderDemandIsRefused() {
        TornadoExecutionResult result = copyAndReturn(EVERY_EXECUTION).execute();
        assertThatThrownBy(() -> result.transferToHost(in))
                .hasMessage("none of the selected graphs [g] offers a FloatArray of 4 elements under demand");
    }

    @Test
    void underDemandFindsOnlyTheSelectedGraphsArrays() {
        FloatArray x = FloatArray.fromElements(1f);
        TornadoExecutionPlan plan = Plans.of(
                copy(EVERY_EXECUTION).persistOnDevice(out),
                new TaskGraph("other")
                        .transferToDevice(EVERY_EXECUTION, x)
                        .task("add", Kernels::add, x, 1f)
                        .transferToHost(EVERY_EXECUTION, x));
        TornadoExecutionResult result = plan.withGraph(0).execute();
        plan.withGraph(1).execute();
        assertThatThrownBy(() -> result.transferToHost(out))
                .hasMessage("none of the selected graphs [other] offers a FloatArray of 4 elements under demand");
    }

    @Test
    void whatWasFreedCannotBeAskedFor() {
        TornadoExecutionPlan plan = Plans.of(copy(EVERY_EXECUTION).persistOnDevice(out));
        TornadoExecutionResult result = plan.execute();
        plan.freeDeviceMemory();
        assertThatThrownBy(() -> result.transferToHost(out))
                .hasMessage(
                        "graph g: argument 2 of task copy (FloatArray of 4 elements) cannot be copied to the host, it is not"
                                + " on the device");
    }

    @Test
    void underDemandNeverCopiesToTheDevice() {
        TornadoExecutionPlan plan = copyAndReturn(UNDER_DEMAND);
        assertThatThrownBy(plan::execute).hasMessageContaining("task copy: it uses argument 1");
    }

    @Test
    void firstExecutionToTheHostIsRefused() {
        TaskGraph graph = copy(EVERY_EXECUTION);
        assertThatThrownBy(() -> graph.transferToHost(FIRST_EXECUTION, out))
                .hasMessage("graph g: transferToHost knows no FIRST_EXECUTION, TornadoVM copies each time: say"
                        + " EVERY_EXECUTION");
    }

    @Test
    void anUnknownModeIsRefused() {
        assertThatThrownBy(() -> copy(7)).hasMessage("graph g: 7 is not a transfer mode; use one of DataTransferMode");
    }

    @Test
    void aSecondTransferOfAnArrayIsRefused() {
        TaskGraph graph = copy(EVERY_EXECUTION);
        assertThatThrownBy(() -> graph.transferToDevice(FIRST_EXECUTION, in))
                .hasMessage("graph g: transferToDevice names an array twice (FloatArray of 4 elements)");
    }

    @Test
    void aFirstTransferThatNoTaskUsesIsRefused() {
        TaskGraph graph = copy(EVERY_EXECUTION).transferToDevice(FIRST_EXECUTION, new FloatArray(9));
        assertThatThrownBy(graph::snapshot)
                .hasMessage(
                        "graph g: no task uses a transferred array (FloatArray of 9 elements); TornadoVM would not copy it");
    }

    @Test
    void aTransferToTheHostThatNoTaskUsesIsRefused() {
        TaskGraph graph = copy(EVERY_EXECUTION).transferToHost(EVERY_EXECUTION, new FloatArray(9));
        assertThatThrownBy(graph::snapshot)
                .hasMessage(
                        "graph g: transferToHost names an array that no task uses (FloatArray of 9 elements); TornadoVM would"
                                + " not copy it");
    }

    @Test
    void onlyTornadoArraysAreTransferred() {
        TaskGraph graph = copy(EVERY_EXECUTION);
        assertThatThrownBy(() -> graph.transferToDevice(EVERY_EXECUTION, 4))
                .hasMessage("graph g: transferToDevice is given 4, which is no TornadoVM array");
    }

    @Test
    void aFreedHostArrayIsNamed() {
        FloatArray closed;
        try (Arena arena = Arena.ofConfined()) {
            closed = FloatArray.fromSegmentShallow(arena.allocate(FloatArray.ARRAY_HEADER + 16, 8));
        }
        TornadoExecutionPlan plan = Plans.of(
                new TaskGraph("g").transferToDevice(EVERY_EXECUTION, closed).task("add", Kernels::add, closed, 1f));
        assertThatThrownBy(plan::execute)
                .hasMessage("graph g: the host memory of argument 1 of task add (FloatArray of 4 elements) was freed");
    }
}
