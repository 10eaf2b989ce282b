package uk.ac.manchester.tornado.api;

import io.github.tornadotransformers.emulator.WorkItem;

/**
 * What a kernel that is written for one work item of a group asks for: which item it is, memory that its group shares, and barriers
 * at which the items of a group wait for each other. It is the first argument of its task, which needs a grid with groups.
 *
 * <p>This is the stand-in: a context made inside {@link io.github.tornadotransformers.emulator.WorkGroups} is that of the item that
 * runs; any other is item 0 of a group of one.
 */
public class KernelContext {
    /** The item among all. */
    public final Integer globalIdx;

    /** The item's group. */
    public final Integer groupIdx;

    /** The item in its group. */
    public final Integer localIdx;

    /** Items of all groups. */
    public final Integer globalGroupSizeX;

    /** Items of a group. */
    public final Integer localGroupSizeX;

    private final WorkItem item;

    public KernelContext() {
        item = WorkItem.current();
        globalIdx = item.global();
        groupIdx = item.group();
        localIdx = item.local();
        globalGroupSizeX = item.globalSize();
        localGroupSizeX = item.localSize();
    }

    /** Waits for all items of the group, each of which comes to the same barrier; then sees what they wrote to its local memory. */
    public void localBarrier() {
        item.barrier();
    }

    /** An array that the items of the group share; it holds nothing yet. */
    public float[] allocateFloatLocalArray(int size) {
        return item.floats(size);
    }

    /** An array that the items of the group share; it holds nothing yet. */
    public int[] allocateIntLocalArray(int size) {
        return item.ints(size);
    }
}
