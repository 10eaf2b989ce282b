package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;

import org.junit.jupiter.api.Test;
import uk.ac.manchester.tornado.api.GridScheduler;
import uk.ac.manchester.tornado.api.KernelContext;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.WorkerGrid1D;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Kernels whose items work in groups. */
@OnEmulator
class WorkGroupsTest {
    private final FloatArray x = FloatArray.fromElements(0f, 1f, 2f, 3f, 4f, 5f);
    private final FloatArray y = new FloatArray(6);

    private TaskGraph graph() {
        return new TaskGraph("g").transferToDevice(EVERY_EXECUTION, x, y).transferToHost(EVERY_EXECUTION, x, y);
    }

    private static TornadoExecutionPlan plan(TaskGraph graph) {
        WorkerGrid1D grid = new WorkerGrid1D(6);
        grid.setLocalWork(3, 1, 1);
        return Plans.of(graph).withGridScheduler(new GridScheduler("g.t", grid));
    }

    @Test
    void itemsOfAGroupShareMemory() {
        plan(graph().task("t", Kernels::reverseGroups, new KernelContext(), x).task("u", Kernels::copy, x, y, 6))
                .execute();
        assertThat(y.toHeapArray()).containsExactly(2f, 1f, 0f, 5f, 4f, 3f);
    }

    @Test
    void aKernelForGroupsRunsAsPlainJava() {
        WorkGroups.run(2, 3, context -> Kernels.reverseGroups(context, x));
        assertThat(x.toHeapArray()).containsExactly(2f, 1f, 0f, 5f, 4f, 3f);
    }

    @Test
    void allItemsComeToABarrierBeforeOneGoesOn() {
        IntArray counts = new IntArray(6);
        WorkGroups.run(2, 3, context -> Kernels.countAtBarriers(context, counts));
        assertThat(counts.toHeapArray()).containsExactly(18, 12, 6, 18, 12, 6);
    }

    @Test
    void whatIsReadOfLocalMemoryBeforeItIsWrittenIsPoison() {
        WorkGroups.run(2, 3, context -> Kernels.reverseWithoutBarrier(context, x, y));
        assertThat(y.toHeapArray()).contains(Float.NaN);
    }

    @Test
    void itemsThatEndWhereOthersWaitAreRefused() {
        assertThatThrownBy(() -> WorkGroups.run(2, 3, context -> Kernels.waitWithoutTheFirst(context, x)))
                .isInstanceOf(EmulatorException.class)
                .hasMessage("2 of the 3 work items of a group wait at a barrier that the others do not come to");
    }

    @Test
    void aFailureOfAnItemIsTheKernels() {
        FloatArray tooShort = new FloatArray(4);
        assertThatThrownBy(() -> WorkGroups.run(2, 3, context -> Kernels.reverseGroups(context, tooShort)))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void itemsThatWriteOneElementAreRefused() {
        TornadoExecutionPlan plan = plan(
                graph().task("t", Kernels::numberGroups, new KernelContext(), x).task("u", Kernels::copy, x, y, 6));
        assertThatThrownBy(plan::execute)
                .isInstanceOf(EmulatorException.class)
                .hasMessageStartingWith("graph g: task t: of argument 2 (FloatArray of 6 elements) items 5 and 4 both");
    }

    @Test
    void aGridIsNeeded() {
        TornadoExecutionPlan plan = Plans.of(graph().task("t", Kernels::reverseGroups, new KernelContext(), x)
                .task("u", Kernels::copy, x, y, 6));
        assertThatThrownBy(plan::execute)
                .hasMessageContaining("task t: its kernel takes a KernelContext, and a grid of groups is not given");
    }
}
