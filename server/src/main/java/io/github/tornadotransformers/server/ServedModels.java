package io.github.tornadotransformers.server;

import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.engine.ModelFolder;
import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.batching.SchedulerLimits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/** The models by name: each is loaded when it is first asked for, and the least recently used go where memory is wanted. */
final class ServedModels implements AutoCloseable {
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final SchedulerLimits limits;
    private final int mostOpen;
    private final OptionalLong memory;
    private final ReentrantLock loading = new ReentrantLock();
    private boolean closed;

    /**
     * @param mostOpen answers of a model that run or wait
     * @param memory for those that are loaded; empty: as much as they need
     */
    ServedModels(List<ServedModel> models, SchedulerLimits limits, int mostOpen, OptionalLong memory) {
        this.limits = limits;
        this.mostOpen = mostOpen;
        this.memory = memory;
        models.forEach(model -> entries.put(model.name(), new Entry(model)));
    }

    List<String> names() {
        return List.copyOf(entries.keySet());
    }

    /** Whether the first one, which the server loads by itself, is there. */
    synchronized boolean isReady() {
        return entries.values().iterator().next().worker != null;
    }

    /** Those that are loaded. */
    synchronized List<ModelWorker> loaded() {
        List<ModelWorker> loaded = new ArrayList<>();
        entries.values().forEach(each -> Optional.ofNullable(each.worker).ifPresent(loaded::add));
        return loaded;
    }

    /**
     * The model, loaded, for as long as it is not given back. While one loads, those that are loaded can be had.
     *
     * @param name empty: the first one
     * @throws ApiException if there is no such model, or it cannot be loaded
     */
    Lease lease(Optional<String> name) {
        Entry entry = name.isEmpty() ? entries.values().iterator().next() : entries.get(name.get());
        if (entry == null) {
            throw ApiException.unknownModel(
                    "there is no model " + name.get() + " here: " + String.join(", ", entries.keySet()));
        }
        Optional<Lease> there = leaseLoaded(entry);
        if (there.isPresent()) {
            return there.get();
        }
        loading.lock();
        try {
            return leaseLoaded(entry).orElseGet(() -> load(entry));
        } finally {
            loading.unlock();
        }
    }

    private synchronized Optional<Lease> leaseLoaded(Entry entry) {
        if (closed) {
            throw ApiException.busy("the server is ending");
        }
        if (entry.worker == null) {
            return Optional.empty();
        }
        entry.leases++;
        entry.used = System.nanoTime();
        return Optional.of(new Lease(entry.worker, () -> giveBack(entry)));
    }

    /** Loads the first model, and what a chat needs of it; why that cannot be is told to whoever asks for it. */
    void prepareFirst() {
        try (Lease lease = lease(Optional.empty())) {
            ModelFolder folder = lease.worker().folder();
            if (folder.usableTokenizer().isPresent()) {
                folder.chatTemplate().ending(folder.tokenizer());
            }
        } catch (RuntimeException _) {
            // It is asked for again, by whoever can be told.
        }
    }

    /** One model is loaded at a time. */
    private Lease load(Entry entry) {
        try {
            ModelFolder folder = entry.model.open();
            EngineSettings settings = entry.model.settings().withSequences(limits.running());
            long bytes = Engines.bytes(folder.checkpoint(), settings);
            makeRoom(entry.model.name(), bytes);
            EngineSession session = Engines.openQuickly(folder.checkpoint(), settings);
            ModelWorker worker = new ModelWorker(entry.model.name(), folder, session, limits, mostOpen);
            synchronized (this) {
                entry.bytes = bytes;
                entry.worker = worker;
            }
            return leaseLoaded(entry).orElseThrow();
        } catch (TransformersException e) {
            throw ApiException.notLoaded(entry.model.name(), e);
        }
    }

    private void makeRoom(String name, long bytes) {
        while (memory.isPresent() && bytes() + bytes > memory.getAsLong()) {
            takeOldest()
                    .orElseThrow(
                            () -> ApiException.busy("the model " + name + " needs " + ByteCount.words(bytes) + ", and "
                                    + ByteCount.words(bytes()) + " of " + ByteCount.words(memory.getAsLong())
                                    + " are in use by others: try again later"))
                    .close();
        }
    }

    /** The least recently used of those that nobody uses. */
    private synchronized Optional<ModelWorker> takeOldest() {
        return entries.values().stream()
                .filter(each -> each.worker != null && each.leases == 0)
                .min(Comparator.comparingLong(each -> each.used))
                .map(Entry::take);
    }

    /** Of those that are loaded. */
    synchronized long bytes() {
        return entries.values().stream()
                .filter(each -> each.worker != null)
                .mapToLong(each -> each.bytes)
                .sum();
    }

    private synchronized void giveBack(Entry entry) {
        entry.leases--;
    }

    @Override
    public void close() {
        List<ModelWorker> workers = new ArrayList<>();
        loading.lock();
        try {
            synchronized (this) {
                closed = true;
                entries.values().stream()
                        .filter(each -> each.worker != null)
                        .map(Entry::take)
                        .forEach(workers::add);
            }
        } finally {
            loading.unlock();
        }
        workers.forEach(ModelWorker::close);
    }

    /** A model in use, which stays loaded until this is closed. */
    record Lease(ModelWorker worker, Runnable end) implements AutoCloseable {
        @Override
        public void close() {
            end.run();
        }
    }

    private static final class Entry {
        private final ServedModel model;
        private ModelWorker worker;
        private long bytes;
        private int leases;
        private long used;

        Entry(ServedModel model) {
            this.model = model;
        }

        /** The worker, which is nobody's now. */
        ModelWorker take() {
            ModelWorker taken = worker;
            worker = null;
            return taken;
        }
    }
}
