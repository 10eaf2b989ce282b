package io.github.tornadotransformers.emulator;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * The items of a group, each in a thread of its own, of which one runs at a time: to the next barrier or its end, in the items'
 * order, then the next item. So a kernel's result is the same each time, whatever is wrong with it.
 */
final class WorkGroup {
    private final int index;
    private final int groups;
    private final int size;
    private final ItemOrder order;
    private final IntConsumer resumed;
    private final List<Object> memory = new ArrayList<>();
    private final Thread[] threads;
    private final boolean[] ended;
    private int ends;
    private RuntimeException failure;
    private volatile int position;

    /** @param resumed is told the item, among those of all groups, that runs from now on */
    WorkGroup(int index, int groups, int size, ItemOrder order, IntConsumer resumed) {
        this.index = index;
        this.groups = groups;
        this.size = size;
        this.order = order;
        this.resumed = resumed;
        this.threads = new Thread[size];
        this.ended = new boolean[size];
    }

    int index() {
        return index;
    }

    int groups() {
        return groups;
    }

    int size() {
        return size;
    }

    /** @throws EmulatorException if some items end and others wait for them at a barrier */
    void run(Runnable kernel) {
        for (int at = 0; at < size; at++) {
            int here = at;
            WorkItem item = new WorkItem(this, order.item(at, size));
            threads[at] = Thread.ofVirtual().unstarted(() -> run(item, here, kernel));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            join(thread);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void run(WorkItem item, int at, Runnable kernel) {
        awaitTurn(at, item.local());
        try {
            if (failure == null) {
                item.run(kernel);
            }
        } catch (RuntimeException e) {
            failure = failure == null ? e : failure;
        } finally {
            ended[at] = true;
            ends++;
            passOn(at);
        }
    }

    void barrier(int local) {
        int at = position;
        passOn(at);
        awaitTurn(at, local);
        if (failure != null) {
            throw failure;
        }
    }

    private void awaitTurn(int at, int local) {
        while (position != at) {
            LockSupport.park(this);
        }
        resumed.accept(index * size + local);
    }

    /** Lets the next item run that has not ended; after the last one all are at the same barrier. */
    private void passOn(int at) {
        int next = at;
        do {
            next = (next + 1) % size;
            if (next == 0 && ends > 0 && ends < size && failure == null) {
                failure = new EmulatorException(
                        "%d of the %d work items of a group wait at a barrier that the others do not come to"
                                .formatted(size - ends, size));
            }
        } while (ended[next] && ends < size);
        position = next;
        LockSupport.unpark(threads[next]);
    }

    /** What the items' allocation of that number is. */
    @SuppressWarnings("unchecked") // All items run the same kernel.
    <T> T shared(int number, Supplier<T> array) {
        if (number == memory.size()) {
            memory.add(array.get());
        }
        return (T) memory.get(number);
    }
}
