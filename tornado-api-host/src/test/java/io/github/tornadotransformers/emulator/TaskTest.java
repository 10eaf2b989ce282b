package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;

import org.junit.jupiter.api.Test;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task1;
import uk.ac.manchester.tornado.api.exceptions.TornadoTaskRuntimeException;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

@OnEmulator
class TaskTest {
    private final FloatArray x = FloatArray.fromElements(1f, 2f);

    private TaskGraph graph() {
        return new TaskGraph("g").transferToDevice(EVERY_EXECUTION, x).transferToHost(EVERY_EXECUTION, x);
    }

    @Test
    void tasksRunInTheOrderTheyWereAdded() {
        Plans.of(graph().task("zero", Kernels::zero, x).task("add", Kernels::add, x, 1f))
                .execute();
        assertThat(x.toHeapArray()).containsExactly(1f, 1f);
    }

    @Test
    void aTaskDoesNotTouchTheHostsArray() {
        Plans.of(new TaskGraph("g")
                        .transferToDevice(EVERY_EXECUTION, x)
                        .task("add", Kernels::add, x, 1f)
                        .persistOnDevice(x))
                .execute();
        assertThat(x.toHeapArray()).containsExactly(1f, 2f);
    }

    @Test
    void aScalarIsFrozenWhenTheTaskIsAdded() {
        float[] amount = {1f};
        TornadoExecutionPlan plan = Plans.of(graph().task("add", Kernels::add, x, amount[0]));
        amount[0] = 100f;
        plan.execute();
        assertThat(x.toHeapArray()).containsExactly(2f, 3f);
    }

    @Test
    void fifteenArgumentsArriveInOrder() {
        IntArray out = new IntArray(14);
        Plans.of(new TaskGraph("g")
                        .task("list", Kernels::list, out, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7)
                        .transferToHost(EVERY_EXECUTION, out))
                .execute();
        assertThat(out.toHeapArray()).containsExactly(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7);
    }

    @Test
    void aTaskAddedAfterTheSnapshotDoesNotRun() {
        TaskGraph graph = graph().task("add", Kernels::add, x, 1f);
        TornadoExecutionPlan plan = Plans.of(graph);
        graph.task("zero", Kernels::zero, x);
        plan.execute();
        assertThat(x.toHeapArray()).containsExactly(2f, 3f);
    }

    @Test
    void aLambdaThatCapturesIsRefused() {
        float amount = x.get(0);
        assertThatThrownBy(() -> graph().task("add", y -> Kernels.add(y, amount), x))
                .hasMessage(
                        "graph g: task add: its method must be a reference to a static method, or a lambda that captures"
                                + " nothing");
    }

    @Test
    void aLambdaThatCapturesNothingIsATask() {
        Plans.of(graph().task("add", y -> Kernels.add(y, 1f), x)).execute();
        assertThat(x.toHeapArray()).containsExactly(2f, 3f);
    }

    @Test
    void anObjectThatImplementsTheInterfaceIsRefused() {
        Task1<FloatArray> task = new Task1<>() {
            @Override
            public void apply(FloatArray array) {
                Kernels.zero(array);
            }
        };
        assertThatThrownBy(() -> graph().task("zero", task, x)).hasMessageContaining("task zero: its method must be");
    }

    @Test
    void twoTasksOfOneNameAreRefused() {
        TaskGraph graph = graph().task("add", Kernels::add, x, 1f);
        assertThatExceptionOfType(TornadoTaskRuntimeException.class)
                .isThrownBy(() -> graph.task("add", Kernels::add, x, 2f))
                .withMessage("graph g: there is a task add already");
    }

    @Test
    void aGraphWithoutATaskIsRefused() {
        assertThatThrownBy(() -> graph().snapshot()).hasMessage("graph g: it has no task");
    }

    @Test
    void aJavaArrayIsNoArgument() {
        assertThatThrownBy(() -> graph().task("t", (float[] y) -> {}, new float[1]))
                .hasMessage("graph g: task t: argument 1 is a [F; a device takes numbers and TornadoVM's arrays");
    }

    @Test
    void nullIsNoArgument() {
        assertThatThrownBy(() -> graph().task("zero", Kernels::zero, null))
                .hasMessage("graph g: task zero: argument 1 is null");
    }

    @Test
    void aTaskThatThrowsIsNamed() {
        FloatArray out = new FloatArray(2);
        TornadoExecutionPlan plan = Plans.of(
                new TaskGraph("g").transferToDevice(EVERY_EXECUTION, x, out).task("copy", Kernels::copy, x, out, 5));
        assertThatThrownBy(plan::execute)
                .isInstanceOf(EmulatorException.class)
                .hasMessageStartingWith("graph g: task copy failed: java.lang.IndexOutOfBoundsException")
                .hasCauseInstanceOf(IndexOutOfBoundsException.class);
    }
}
