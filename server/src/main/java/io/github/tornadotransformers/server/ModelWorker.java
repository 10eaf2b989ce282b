package io.github.tornadotransformers.server;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.ModelFolder;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.batching.CacheUse;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.Scheduler;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import io.github.tornadotransformers.models.generation.Sequence;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A model that is loaded, and the one thread that runs its sequences together. */
final class ModelWorker implements AutoCloseable {
    private final String name;
    private final ModelFolder folder;
    private final EngineSession session;
    private final Engine engine;
    private final SchedulerLimits limits;
    private final int mostOpen;
    private final CompletableFuture<String> hash;
    private final BlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
    private final AtomicInteger open = new AtomicInteger();
    private final Set<Watched> sequences = new HashSet<>();
    private final Thread thread;
    private Scheduler scheduler;
    private volatile Load load;
    private boolean closed;

    /**
     * What the model's thread was doing after its last step.
     *
     * @param running answers that have memory; others wait
     */
    record Load(int running, CacheUse cache) {}

    /**
     * @param session with an engine for many sequences; closed with this
     * @param mostOpen answers that run or wait
     */
    ModelWorker(String name, ModelFolder folder, EngineSession session, SchedulerLimits limits, int mostOpen) {
        this.name = name;
        this.folder = folder;
        this.session = session;
        this.limits = limits;
        this.mostOpen = mostOpen;
        engine = session.batches()
                .orElseThrow(
                        () -> new InvalidRequest("the engine " + session.engine() + " runs one sequence at a time"));
        scheduler = new Scheduler(engine, limits);
        load = new Load(0, engine.cacheUse());
        hash = CompletableFuture.supplyAsync(() -> folder.checkpoint().hash(), Thread::startVirtualThread);
        thread = Thread.ofPlatform().name("model " + name).start(this::run);
    }

    String name() {
        return name;
    }

    ModelFolder folder() {
        return folder;
    }

    EngineSession session() {
        return session;
    }

    int contextLength() {
        return engine.program().contextLength();
    }

    /** Of the weights; it takes a while at first. */
    String hash() {
        return hash.join();
    }

    /** Answers that run or wait. */
    int size() {
        return open.get();
    }

    Load load() {
        return load;
    }

    /** @throws ApiException if too many run and wait */
    void requireRoom(int count) {
        if (open.get() + count > mostOpen) {
            throw ApiException.busy("the model " + name + " has " + open.get() + " answers to give already, of at most "
                    + mostOpen + ": try again later");
        }
    }

    /** Has a sequence run with the others. */
    void add(Sequence sequence, Runnable ended) {
        open.incrementAndGet();
        Watched[] self = new Watched[1];
        Watched watched = new Watched(sequence, () -> {
            open.decrementAndGet();
            sequences.remove(self[0]);
            ended.run();
        });
        self[0] = watched;
        inbox.add(() -> {
            sequences.add(watched);
            try {
                scheduler.add(watched);
            } catch (RuntimeException e) {
                watched.failed(e);
            }
        });
    }

    /** Has something else done in the model's thread, between steps. */
    <T> CompletableFuture<T> between(Function<EngineSession, T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        inbox.add(() -> {
            try {
                result.complete(work.apply(session));
            } catch (RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private void run() {
        try {
            while (!closed) {
                turn();
            }
        } catch (InterruptedException _) {
            // Nobody interrupts this but to end it.
        } finally {
            inbox.forEach(Runnable::run); // whoever still waits is told
            scheduler.close();
            session.close();
        }
    }

    private void turn() throws InterruptedException {
        try {
            next().ifPresent(Runnable::run);
            if (inbox.isEmpty() && scheduler.size() > 0) {
                scheduler.step();
            }
        } catch (RuntimeException e) {
            failAll(e);
        } catch (Error e) { // or nobody would run what comes after
            failAll(new IllegalStateException(e));
        }
        load = new Load(scheduler.running(), engine.cacheUse());
    }

    private Optional<Runnable> next() throws InterruptedException {
        return scheduler.size() == 0 ? Optional.of(inbox.take()) : Optional.ofNullable(inbox.poll());
    }

    /** An engine that fails ends what runs on it, and nothing that comes after. */
    private void failAll(RuntimeException failure) {
        Set.copyOf(sequences).forEach(each -> each.failed(failure));
        scheduler.close();
        scheduler = new Scheduler(engine, limits);
    }

    /** Ends what runs, as cancelled, and frees the memory. */
    @Override
    public void close() {
        inbox.add(() -> closed = true);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
