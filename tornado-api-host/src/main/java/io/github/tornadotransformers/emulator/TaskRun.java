package io.github.tornadotransformers.emulator;

import java.util.IdentityHashMap;
import java.util.OptionalInt;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** One run of a task: the order of its items, how many there are, and what they touch. */
final class TaskRun {
    private final ItemOrder order;
    private final IdentityHashMap<TornadoNativeArray, AccessLog> logs = new IdentityHashMap<>();
    private int item;
    private OptionalInt items = OptionalInt.empty();

    TaskRun(ItemOrder order) {
        this.order = order;
    }

    ItemOrder order() {
        return order;
    }

    /** Says which item runs from now on. */
    void enter(int item) {
        this.item = item;
    }

    /** The item that runs at {@code position}, where that is before the end of the loop. */
    int item(int position, int bound) {
        items = OptionalInt.of(bound);
        item = position < bound ? order.item(position, bound) : position;
        return item;
    }

    /** How far the parallel loop runs; empty where the task has none. */
    OptionalInt items() {
        return items;
    }

    void read(TornadoNativeArray array, int element) {
        if (holds(array, element)) {
            log(array).read(item, element);
        }
    }

    void write(TornadoNativeArray array, int element) {
        if (holds(array, element)) {
            log(array).write(item, element);
        }
    }

    /** Else the access itself fails. */
    private static boolean holds(TornadoNativeArray array, int element) {
        return element >= 0 && element < array.getSize();
    }

    private AccessLog log(TornadoNativeArray array) {
        return logs.computeIfAbsent(array, AccessLog::new);
    }

    boolean reads(TornadoNativeArray array) {
        return logs.containsKey(array) && logs.get(array).isRead();
    }

    boolean writes(TornadoNativeArray array) {
        return logs.containsKey(array) && logs.get(array).isWritten();
    }
}
