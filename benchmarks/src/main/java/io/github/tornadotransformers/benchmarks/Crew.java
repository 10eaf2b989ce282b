package io.github.tornadotransformers.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Threads that do the same kind of work at the same time for a while. */
final class Crew {
    /** A part of a thread's work, of some milliseconds at most. */
    @FunctionalInterface
    interface Pass {
        /** @return how much was done, in the caller's unit */
        long run(int thread);
    }

    private Crew() {}

    /** How much all threads together do a second: each repeats its pass until the time is over. */
    static double perSecond(int threads, long nanos, Pass pass) {
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Callable<Double>> tasks = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int thread = i;
            tasks.add(() -> rate(start, thread, nanos, pass));
        }
        try (ExecutorService executor =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            double total = 0;
            for (Future<Double> rate : executor.invokeAll(tasks)) {
                total += rate.get();
            }
            return total;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private static double rate(CyclicBarrier start, int thread, long nanos, Pass pass)
            throws InterruptedException, BrokenBarrierException {
        int _ = start.await();
        long begun = System.nanoTime();
        long done = 0;
        long elapsed = 0;
        while (elapsed < nanos) {
            done += pass.run(thread);
            elapsed = System.nanoTime() - begun;
        }
        return done * 1e9 / elapsed;
    }
}
