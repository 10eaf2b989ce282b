package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;

import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import uk.ac.manchester.tornado.api.GridScheduler;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.WorkerGrid;
import uk.ac.manchester.tornado.api.WorkerGrid1D;
import uk.ac.manchester.tornado.api.WorkerGrid2D;
import uk.ac.manchester.tornado.api.WorkerGrid3D;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

@OnEmulator
class GridTest {
    private TornadoExecutionPlan plan;

    @BeforeEach
    void plan() {
        FloatArray x = new FloatArray(64);
        plan = Plans.of(new TaskGraph("g")
                .transferToDevice(EVERY_EXECUTION, x)
                .task("zero", Kernels::zero, x)
                .transferToHost(EVERY_EXECUTION, x));
    }

    private Throwable refusal(String key, WorkerGrid grid) {
        return catchThrowable(() -> plan.withGridScheduler(new GridScheduler(key, grid)));
    }

    private static WorkerGrid grid(int global, int local) {
        WorkerGrid grid = new WorkerGrid1D(global);
        grid.setLocalWork(local, 1, 1);
        return grid;
    }

    @Test
    void aGridThatFitsIsAccepted() {
        assertThat(refusal("g.zero", grid(64, 32))).isNull();
    }

    @Test
    void aGridWithoutGroupSizesIsAccepted() {
        assertThat(refusal("g.zero", new WorkerGrid3D(2, 4, 8))).isNull();
    }

    @Test
    void aGridForAnUnknownTaskIsNamed() {
        assertThat(refusal("g.one", grid(64, 32)))
                .isInstanceOf(EmulatorException.class)
                .hasMessage("the grid scheduler has a grid for g.one, which is no task of this plan: [g]");
    }

    @Test
    void groupsThatDoNotDivideAreNamed() {
        assertThat(refusal("g.zero", grid(64, 48)))
                .hasMessage("g.zero: groups of 48 do not divide 64 work items along dimension 0");
    }

    @Test
    void aGridWithoutWorkIsNamed() {
        assertThat(refusal("g.zero", new WorkerGrid2D(4, 0)))
                .hasMessage("g.zero: 0 work items along dimension 1; there must be one at least");
    }

    @Test
    void groupsLargerThanTheDeviceAllowsAreNamed() {
        WorkerGrid grid = new WorkerGrid2D(64, 64);
        grid.setLocalWork(64, 32, 1);
        assertThat(refusal("g.zero", grid)).hasMessage("g.zero: groups of 2048 work items, but the device allows 1024");
    }

    private void execute(WorkerGrid grid) {
        plan.withGridScheduler(new GridScheduler("g.zero", grid)).execute();
    }

    @Test
    void aGridMayEndWithinItsLastGroup(EmulatedDevice device) {
        execute(grid(64, 64));
        execute(grid(96, 48));
        assertThat(device.loops()).containsExactly(Map.entry("g.zero", 64));
    }

    @Test
    void aGridSmallerThanTheLoopIsRefused() {
        assertThatThrownBy(() -> execute(grid(32, 32)))
                .hasMessage("g.zero: a grid of 32 work items in groups of 32 for a loop of 64");
    }

    @Test
    void aGridWithAGroupTooManyIsRefused() {
        assertThatThrownBy(() -> execute(grid(96, 32)))
                .hasMessage("g.zero: a grid of 96 work items in groups of 32 for a loop of 64");
    }

    @Test
    void aGridForATaskWithoutALoopIsRefused() {
        IntArray counter = IntArray.fromElements(0);
        TornadoExecutionPlan counting = Plans.of(new TaskGraph("g")
                .transferToDevice(EVERY_EXECUTION, counter)
                .task("count", Kernels::increment, counter)
                .transferToHost(EVERY_EXECUTION, counter));
        counting.withGridScheduler(new GridScheduler("g.count", grid(2, 1)));
        assertThatThrownBy(counting::execute).hasMessage("g.count: a grid of 2 work items, but no parallel loop");
    }

    @Test
    void aGridThatChangesLaterIsCheckedAgain() {
        WorkerGrid grid = grid(64, 32);
        plan.withGridScheduler(new GridScheduler("g.zero", grid));
        grid.setGlobalWork(65, 1, 1);
        assertThatThrownBy(plan::execute)
                .hasMessage("g.zero: groups of 32 do not divide 65 work items along dimension 0");
    }
}
