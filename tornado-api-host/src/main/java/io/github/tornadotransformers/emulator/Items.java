package io.github.tornadotransformers.emulator;

import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** What kernels call once {@link KernelLoader} has rewritten them. */
public final class Items {
    private static final ScopedValue<TaskRun> RUN = ScopedValue.newInstance();

    private Items() {}

    static void run(TaskRun run, Runnable kernel) {
        ScopedValue.where(RUN, run).run(kernel);
    }

    /** The value of the parallel loop's variable at a position of its own. */
    public static int item(int position, int bound) {
        return RUN.get().item(position, bound);
    }

    /** Before an element is read. */
    public static void reads(TornadoNativeArray array, int element) {
        RUN.get().read(array, element);
    }

    /** Before an element is written. */
    public static void writes(TornadoNativeArray array, int element) {
        RUN.get().write(array, element);
    }
}
