package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedCollection;
import java.util.SequencedSet;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Brings the files of one model from the hub that a folder lacks: the config first, so that a model of a family that is not
 * implemented is refused before its weights come, and the weights last, several files at once. All are of one commit.
 */
final class Fetch {
    /** Files at once: one connection does not fill a fast line. */
    private static final int AT_ONCE = 4;

    private final Hub hub;
    private final Console console;
    private final HubModel model;
    private final Path folder;
    private final Persistence persistence;
    private Optional<Source> source;

    Fetch(Hub hub, Console console, HubModel model, Path folder, Persistence persistence) {
        this.hub = hub;
        this.console = console;
        this.model = model;
        this.folder = folder;
        this.persistence = persistence;
        this.source = Source.of(folder);
    }

    /**
     * @param weights whether more is wanted than the tokenizer
     * @throws UnknownRepositoryException if the hub has none of that name
     * @throws Failure if the model cannot be had
     */
    void run(boolean weights) {
        if (model.gguf().isPresent()) {
            fetchGguf(model.ggufFiles());
            return;
        }
        fetchConfig(weights);
        fetchTokenizer();
        if (weights) {
            fetchWeights();
        }
    }

    private void fetchConfig(boolean weights) {
        Path config = folder.resolve(ModelFiles.CONFIG);
        boolean isNew = !Files.isRegularFile(config);
        if (!fetchFile(ModelFiles.CONFIG)) {
            throw new UnknownRepositoryException(
                    ModelFiles.CONFIG + " is not in the repository " + model.repository() + " at " + revision());
        }
        if (weights) {
            try {
                Checkpoint.readConfig(config);
            } catch (CheckpointException e) {
                if (isNew) {
                    delete(config);
                    delete(folder.resolve(Source.FILE));
                }
                throw Failure.of(
                        model.name() + " cannot be run, and its weights were not fetched: " + e.getMessage(), e);
            }
        }
    }

    private void fetchTokenizer() {
        for (String file : ModelFiles.OPTIONAL) {
            fetchFile(file);
        }
        if (!fetchFile(ModelFiles.TOKENIZER)) {
            for (String file : ModelFiles.GPT2_TOKENIZER) {
                require(file, "");
            }
        }
    }

    private void fetchGguf(List<String> files) {
        if (files.size() == 1) {
            require(files.getFirst(), "");
        } else {
            fetchTogether(files, OptionalLong.empty());
        }
    }

    private void fetchWeights() {
        Path index = folder.resolve(ModelFiles.INDEX);
        boolean isNew = !Files.isRegularFile(index);
        if (fetchFile(ModelFiles.INDEX)) {
            SequencedSet<String> shards = isNew ? newShards(index) : ModelFiles.shards(index);
            fetchTogether(shards, ModelFiles.totalBytes(index));
        } else {
            require(ModelFiles.WEIGHTS, ": weights in other formats are not read");
        }
    }

    /** Of an index that has just come: it is not kept if it is none. */
    private static SequencedSet<String> newShards(Path index) {
        try {
            return ModelFiles.shards(index, "it was thrown away");
        } catch (Failure e) {
            delete(index);
            throw e;
        }
    }

    /** @param total bytes of all files, where they are known */
    private void fetchTogether(SequencedCollection<String> files, OptionalLong total) {
        long here = bytesOf(files);
        total.ifPresent(all -> Download.requireSpace(folder, model.name(), all - here));
        List<String> missing = files.stream()
                .filter(file -> !Files.isRegularFile(folder.resolve(file)))
                .toList();
        try (Arrivals arrivals = Arrivals.of(console.status(), model.name(), here, total);
                ExecutorService threads =
                        Executors.newFixedThreadPool(AT_ONCE, Thread.ofVirtual().factory())) {
            CompletionService<Void> downloads = new ExecutorCompletionService<>(threads);
            for (String file : missing) {
                Download download = download(file, Optional.of(arrivals));
                downloads.submit(() -> require(file, run(download), ""), null);
            }
            awaitAll(downloads, missing.size(), threads);
        }
    }

    /** The first failure ends the others. */
    private static void awaitAll(CompletionService<Void> downloads, int count, ExecutorService threads) {
        try {
            for (int i = 0; i < count; i++) {
                downloads.take().get();
            }
        } catch (ExecutionException e) {
            threads.shutdownNow();
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            threads.shutdownNow();
            Thread.currentThread().interrupt();
            throw Failure.of("the download was interrupted", e);
        }
    }

    private long bytesOf(Collection<String> files) {
        try {
            long bytes = 0;
            for (String file : files) {
                bytes += Download.bytesOf(folder, file);
            }
            return bytes;
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private void require(String file, String advice) {
        require(file, fetchFile(file), advice);
    }

    private void require(String file, boolean found, String advice) {
        if (!found) {
            throw Failure.of(file + " is not in the repository " + model.repository() + " at " + revision() + advice);
        }
    }

    /** Whether the file is there, now. */
    private boolean fetchFile(String file) {
        if (Files.isRegularFile(folder.resolve(file))) {
            return true;
        }
        return run(download(file, Optional.empty()));
    }

    /** The first file says of which commit the others are to be. */
    private boolean run(Download download) {
        boolean found = download.run();
        synchronized (this) {
            if (source.isEmpty()) {
                source = download.commit().map(commit -> new Source(model.repository(), commit, model.asked()));
                source.ifPresent(this::write);
            }
        }
        return found;
    }

    private void write(Source found) {
        try {
            found.write(folder);
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be written: " + IoReason.of(e), e);
        }
    }

    private Download download(String file, Optional<Arrivals> all) {
        return new Download(hub, console, model, revision(), folder, file, persistence, all);
    }

    /** The commit, once it is known. */
    private synchronized String revision() {
        return source.map(Source::revision).orElseGet(model::revision);
    }

    /** What is fetched from where to where, in words. */
    String words() {
        String size = model.known()
                .map(known -> ", " + ByteCount.words(known.bytes()))
                .orElse("");
        return "fetching " + model.repository() + " at " + revision() + size + " into " + folder;
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw Failure.of(file + " cannot be deleted: " + IoReason.of(e), e);
        }
    }
}
