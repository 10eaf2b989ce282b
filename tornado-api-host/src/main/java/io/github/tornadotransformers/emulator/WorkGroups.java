package io.github.tornadotransformers.emulator;

import java.util.function.Consumer;
import java.util.function.IntConsumer;
import uk.ac.manchester.tornado.api.KernelContext;

/** Runs kernels that are written for one work item of a group. */
public final class WorkGroups {
    private WorkGroups() {}

    /**
     * Runs a kernel as plain Java, group after group; the items of a group run one at a time, shuffled, from barrier to barrier.
     *
     * @param size work items of a group
     * @throws EmulatorException if some items of a group end and others wait for them at a barrier
     */
    public static void run(int groups, int size, Consumer<KernelContext> kernel) {
        run(groups, size, ItemOrder.SHUFFLED, _ -> {}, () -> kernel.accept(new KernelContext()));
    }

    /** @param resumed is told the item, among those of all groups, that runs from now on */
    static void run(int groups, int size, ItemOrder order, IntConsumer resumed, Runnable kernel) {
        for (int at = 0; at < groups; at++) {
            new WorkGroup(order.item(at, groups), groups, size, order, resumed).run(kernel);
        }
    }
}
