package io.github.tornadotransformers.host;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that run the parts of a parallel region, the calling thread among them. Between regions the others spin for some
 * microseconds, since the next Op follows at once, and then sleep, so that an idle program costs nothing.
 *
 * <p>Regions are started by one thread at a time. Each thread begins with a share of the parts that follow each other, so that what it wrote
 * in one region it often finds in its own cache in the next, and then takes what others have left. Which thread runs which part is
 * therefore left to chance: a part must not depend on another, and what it computes must not depend on the thread.
 */
final class ThreadTeam implements AutoCloseable {
    /** Spins before sleeping, of some nanoseconds each: longer than the serial work between two regions of a token. */
    private static final int SPINS = 20_000;

    private static final int SPINS_BEFORE_YIELD = 2_000;

    /** In a ticket's lower half: no part can be taken. */
    private static final long CLOSED = Integer.MAX_VALUE;

    /** From one ticket to the next, so that no two are in the same or in neighbouring lines of a cache. */
    private static final int APART = 16;

    /** One part of a region. */
    @FunctionalInterface
    interface Part {
        /** @param worker which thread runs it, in {@code [0, size)}: an index for scratch memory */
        void run(int worker, int part);
    }

    private final Worker[] workers;

    /** Of each thread's share of the parts: the region's number in the upper half, the next part to take in the lower. */
    private final AtomicLongArray tickets;

    private final AtomicInteger unfinished = new AtomicInteger();
    private volatile Part region;
    private volatile int parts;
    private volatile boolean closed;
    private volatile Throwable failure;

    /** @param threads how many run a region, the calling one included; 1 or more */
    ThreadTeam(int threads) {
        workers = new Worker[threads - 1];
        tickets = new AtomicLongArray(threads * APART);
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(i + 1);
            workers[i].start();
        }
    }

    int size() {
        return workers.length + 1;
    }

    /** Runs parts {@code 0 .. parts-1}, each once, and returns when all have ended; throws what a part threw. */
    void run(int parts, Part part) {
        if (parts <= 1 || workers.length == 0) {
            for (int i = 0; i < parts; i++) {
                part.run(0, i);
            }
            return;
        }
        long number = tickets.get(0) >>> 32;
        for (int share = 0; share < size(); share++) {
            tickets.set(share * APART, number << 32 | CLOSED);
        }
        this.parts = parts;
        region = part;
        unfinished.set(parts);
        for (int share = size() - 1; share >= 0; share--) { // the first is what others wait for
            tickets.set(share * APART, (number + 1) << 32 | shareStart(share, parts));
        }
        for (int i = 0; i < workers.length && i < parts - 1; i++) {
            workers[i].wake();
        }
        takeParts(0);
        for (int spins = 0; unfinished.get() > 0; spins++) {
            pause(spins);
        }
        rethrowFailure();
    }

    /**
     * Runs parts of the thread's own share, then of those after it, until none is left. A ticket taken by compare-and-set proves that its region is still running, and with it
     * that {@code region} and {@code parts}, read before, are that region's: they change only while the ticket is closed.
     */
    private void takeParts(int worker) {
        for (int i = 0; i < size(); i++) {
            takeShare(worker, (worker + i) % size());
        }
    }

    private void takeShare(int worker, int share) {
        while (true) {
            long taken = tickets.get(share * APART);
            int part = (int) taken;
            Part task = region;
            if (part >= shareStart(share + 1, parts)) {
                return;
            }
            if (tickets.compareAndSet(share * APART, taken, taken + 1)) {
                runPart(task, worker, part);
            }
        }
    }

    /** The first part of a thread's share; where there are fewer parts than threads, the last threads have none. Before the first region, there are none. */
    private int shareStart(int share, int parts) {
        return Math.min(parts, shareStart(share, Math.clamp(parts, 1, size()), parts));
    }

    /** Where one of {@code shares} equal shares of the parts begins, to within a part, and the one before ends. */
    static int shareStart(int share, int shares, int parts) {
        return (int) ((long) share * parts / shares);
    }

    private void runPart(Part task, int worker, int part) {
        try {
            task.run(worker, part);
        } catch (RuntimeException | Error thrown) {
            failure = thrown;
        } finally {
            unfinished.decrementAndGet();
        }
    }

    private void rethrowFailure() {
        Throwable thrown = failure;
        if (thrown != null) {
            failure = null;
            if (thrown instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) thrown;
        }
    }

    private static void pause(int spins) {
        if (spins < SPINS_BEFORE_YIELD) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    @Override
    public void close() {
        closed = true;
        for (Worker worker : workers) {
            LockSupport.unpark(worker.thread);
        }
    }

    private final class Worker implements Runnable {
        private final int index;
        private final Thread thread;
        private volatile boolean asleep;

        Worker(int index) {
            this.index = index;
            this.thread = Thread.ofPlatform()
                    .name("transformers-" + index)
                    .daemon(true)
                    .unstarted(this);
        }

        void start() {
            thread.start();
        }

        void wake() {
            if (asleep) {
                LockSupport.unpark(thread);
            }
        }

        @Override
        public void run() {
            long seen = 0;
            while (!closed) {
                long current = tickets.get(0) >>> 32;
                if (current == seen) {
                    seen = await(seen);
                } else {
                    seen = current;
                }
                takeParts(index);
            }
        }

        /** Waits for a region other than {@code seen}. */
        private long await(long seen) {
            for (int spins = 0; spins < SPINS; spins++) {
                long current = tickets.get(0) >>> 32;
                if (current != seen || closed) {
                    return current;
                }
                Thread.onSpinWait();
            }
            asleep = true;
            while (tickets.get(0) >>> 32 == seen && !closed) {
                LockSupport.park(ThreadTeam.this);
            }
            asleep = false;
            return tickets.get(0) >>> 32;
        }
    }
}
