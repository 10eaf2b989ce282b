package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** Kernels whose items depend on each other, which plain Java runs as if they did not. */
@OnEmulator
class ItemsTest {
    private final FloatArray x = FloatArray.fromElements(1f, 2f, 3f, 4f);
    private final FloatArray y = FloatArray.fromElements(0f, 0f, 0f, 0f);

    private TaskGraph graph() {
        return new TaskGraph("g").transferToDevice(EVERY_EXECUTION, x, y).transferToHost(EVERY_EXECUTION, x, y);
    }

    @Test
    void anItemThatReadsWhatAnotherWritesIsRefused() {
        TornadoExecutionPlan plan =
                Plans.of(graph().task("copy", Kernels::copy, x, y, 4).task("divide", Kernels::divideBySum, x));
        assertThatThrownBy(plan::execute)
                .hasMessage("graph g: task divide: of argument 1 (FloatArray of 4 elements) item 2 reads element 3,"
                        + " which item 3 writes; its result depends on the order of items");
    }

    @Test
    void itemsThatWriteOneElementAreRefused() {
        TornadoExecutionPlan plan =
                Plans.of(graph().task("copy", Kernels::copy, x, y, 4).task("last", Kernels::last, x, 4));
        assertThatThrownBy(plan::execute)
                .hasMessage("graph g: task last: of argument 1 (FloatArray of 4 elements) items 3 and 2 both write"
                        + " element 0; its result depends on the order of items");
    }

    @Test
    void oneArrayAsTwoArgumentsIsRefusedWhereItemsMeet() {
        TornadoExecutionPlan plan =
                Plans.of(graph().task("copy", Kernels::copy, x, y, 4).task("shift", Kernels::shift, x, x));
        assertThatThrownBy(plan::execute)
                .isInstanceOf(EmulatorException.class)
                .hasMessageStartingWith("graph g: task shift: of argument 1 (FloatArray of 4 elements) item ");
    }

    @Test
    void oneArrayAsTwoArgumentsIsFineWhereEachItemHasItsOwnElement() {
        Plans.of(graph().task("copy", Kernels::copy, x, y, 4).task("same", Kernels::copy, x, x, 4))
                .execute();
        assertThat(x.toHeapArray()).containsExactly(1f, 2f, 3f, 4f);
    }

    @Test
    void itemsTakeAnotherOrderAtEachExecution() {
        int items = 5;
        Set<String> orders = new HashSet<>();
        IntArray positions = new IntArray(items + 1);
        for (ItemOrder order : ItemOrder.values()) {
            positions.init(0);
            KernelMethod method = new KernelMethod(Kernels.class, "countItems", 2);
            Items.run(new TaskRun(order), () -> method.run(KernelLoader.of(false), positions, items));
            assertThat(positions.get(items)).isEqualTo(items);
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < items; i++) {
                text.append(positions.get(i));
            }
            orders.add(text.toString());
        }
        assertThat(orders).containsExactlyInAnyOrder("43210", "01234", "13024");
    }

    @ParameterizedTest
    @EnumSource
    void anOrderHasEachItemOnce(ItemOrder order) {
        for (int items : new int[] {1, 2, 3, 4, 5, 7, 12, 128, 1000, 1_000_003}) {
            boolean[] seen = new boolean[items];
            for (int position = 0; position < items; position++) {
                int item = order.item(position, items);
                assertThat(seen[item]).isFalse();
                seen[item] = true;
            }
        }
    }

    @Test
    void aKernelThatIsRightInAnyOrderIsRightInAll() {
        TornadoExecutionPlan plan = Plans.of(graph().task("copy", Kernels::copy, x, y, 4));
        for (int execution = 0; execution < 7; execution++) {
            x.init(execution);
            plan.execute();
            assertThat(y.toHeapArray()).containsOnly(execution);
        }
    }
}
