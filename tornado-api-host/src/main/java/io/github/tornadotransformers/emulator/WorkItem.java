package io.github.tornadotransformers.emulator;

import java.util.function.Supplier;

/** One work item of a {@link WorkGroup}, or the only one of no group. */
public final class WorkItem {
    private static final ScopedValue<WorkItem> CURRENT = ScopedValue.newInstance();
    private static final WorkItem ALONE = new WorkItem(null, 0);

    private final WorkGroup group;
    private final int local;
    private int allocations;

    WorkItem(WorkGroup group, int local) {
        this.group = group;
        this.local = local;
    }

    /** The one that runs in this thread. */
    public static WorkItem current() {
        return CURRENT.isBound() ? CURRENT.get() : ALONE;
    }

    void run(Runnable kernel) {
        ScopedValue.where(CURRENT, this).run(kernel);
    }

    public int local() {
        return local;
    }

    public int group() {
        return group == null ? 0 : group.index();
    }

    public int global() {
        return group() * localSize() + local;
    }

    public int localSize() {
        return group == null ? 1 : group.size();
    }

    public int globalSize() {
        return group == null ? 1 : group.groups() * group.size();
    }

    /** Returns when all items of the group have come here. */
    public void barrier() {
        if (group != null) {
            group.barrier(local);
        }
    }

    /** Shared memory of the group, all NaN. */
    public float[] floats(int size) {
        return shared(() -> Poison.floats(size));
    }

    /** Shared memory of the group, all poison. */
    public int[] ints(int size) {
        return shared(() -> Poison.ints(size));
    }

    /** The first allocation of each item is the same array, and so on. */
    private <T> T shared(Supplier<T> array) {
        return group == null ? array.get() : group.shared(allocations++, array);
    }
}
