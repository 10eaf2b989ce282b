package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.CacheFolder;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;

/**
 * The folder of models that have a name: one folder each, filled from the hub when first asked for. What someone has placed
 * there by hand is used as it is.
 */
public final class ModelCache {
    private static final String LOCK = ".lock";

    private final Console console;
    private final Path root;
    private final HubCache hubCache;
    private final Persistence persistence;

    public ModelCache(Console console) {
        this(console, Persistence.DEFAULT);
    }

    ModelCache(Console console, Persistence persistence) {
        this.console = console;
        this.persistence = persistence;
        root = CacheFolder.path(console.environment());
        hubCache = new HubCache(root);
    }

    public Path root() {
        return root;
    }

    /**
     * The checkpoint that a user means.
     *
     * @param nameOrFolder a folder, its {@code config.json}, a known name, or the name of a folder in the cache
     * @throws Failure if there is none, or it cannot be fetched
     */
    public Path checkpoint(String nameOrFolder) {
        return find(nameOrFolder, Wanted.CHECKPOINT);
    }

    /** As {@link #checkpoint}, where only the files of the tokenizer are needed. */
    public Path tokenizer(String nameOrFolder) {
        return find(nameOrFolder, Wanted.TOKENIZER);
    }

    /** The models that are in the cache, whole or not, by name; those of Hugging Face's own libraries come last. */
    public List<CachedFolder> folders() {
        List<CachedFolder> folders = new ArrayList<>(folders(root));
        folders.addAll(folders(withinHubCache()));
        folders.addAll(hubCache.models());
        return folders;
    }

    /** Where our folders are in a cache that is not ours alone. */
    private Path withinHubCache() {
        return root.resolve(CacheFolder.NAME);
    }

    private List<CachedFolder> folders(Path parent) {
        List<CachedFolder> folders = new ArrayList<>();
        if (Files.isDirectory(parent)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent)) {
                for (Path entry : entries) {
                    String name = entry.getFileName().toString();
                    if (!name.startsWith(".")
                            && !HubCache.owns(entry)
                            && !entry.equals(withinHubCache())
                            && holdsFiles(entry)) {
                        folders.add(new CachedFolder(name, entry));
                    }
                }
            } catch (IOException e) {
                throw Failure.of(parent + " cannot be read: " + IoReason.of(e), e);
            }
        }
        folders.sort(Comparator.comparing(CachedFolder::name));
        return folders;
    }

    /** Whether it is a folder with more in it than the lock of a download that got nothing. */
    private static boolean holdsFiles(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, file -> !file.endsWith(LOCK))) {
            return files.iterator().hasNext();
        }
    }

    public static boolean isComplete(Path folder) {
        return ModelFiles.isComplete(folder);
    }

    private Path find(String nameOrFolder, Wanted wanted) {
        Path path = Path.of(nameOrFolder);
        if (path.endsWith(ModelFiles.CONFIG) && Files.isRegularFile(path)) {
            return path.toAbsolutePath().getParent();
        }
        Optional<Path> shipped = ShippedModels.find(console, nameOrFolder);
        if (shipped.isPresent() && !Files.isDirectory(path)) {
            return shipped.get();
        }
        Optional<KnownModel> known = KnownModel.named(nameOrFolder);
        if (known.isPresent() && !Files.isDirectory(path)) {
            return cached(known.get(), wanted);
        }
        if (Files.exists(path)) {
            return path;
        }
        Optional<Path> byHand = hubCache.model(nameOrFolder);
        if (path.getNameCount() == 1 && !nameOrFolder.startsWith(".") && byHand.isEmpty()) {
            byHand = Optional.of(folder(nameOrFolder)).filter(Files::isDirectory);
        }
        if (byHand.isPresent()) {
            return byHand.get();
        }
        throw Failure.of("model " + nameOrFolder + " is neither a folder nor a known name ("
                + String.join(", ", ShippedModels.names()) + ", " + KnownModel.names() + ")");
    }

    /** A model's folder in the cache: in its root, or apart from what others have there. */
    private Path folder(String name) {
        Path folder = root.resolve(name);
        return Files.isDirectory(folder) || !hubCache.exists()
                ? folder
                : withinHubCache().resolve(name);
    }

    private Path cached(KnownModel model, Wanted wanted) {
        Path folder = folder(model.name());
        if (wanted.isIn(folder)) {
            return folder;
        }
        Optional<Path> fetchedByOthers = hubCache.model(model.repository()).filter(wanted::isIn);
        if (fetchedByOthers.isPresent()) {
            return fetchedByOthers.get();
        }
        try {
            Files.createDirectories(folder);
            try (FileChannel channel = FileChannel.open(
                            folder.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = lock(channel, model)) {
                fetchMissing(model, folder, wanted);
            }
        } catch (IOException e) {
            throw Failure.of(
                    "the cache folder " + folder + " cannot be used: " + IoReason.of(e)
                            + " (TRANSFORMERS_CACHE names another)",
                    e);
        }
        return folder;
    }

    private FileLock lock(FileChannel channel, KnownModel model) throws IOException {
        FileLock lock = channel.tryLock();
        if (lock == null) {
            console.err().println("another process is fetching " + model.name() + "; waiting …");
            lock = channel.lock();
        }
        return lock;
    }

    private void fetchMissing(KnownModel model, Path folder, Wanted wanted) {
        if (wanted.isIn(folder)) {
            return; // another process has just done it
        }
        console.err().println("fetching " + model.name() + " (" + model.description() + ") into " + folder);
        Hub hub = new Hub(console);
        try {
            require(hub, model, folder, ModelFiles.CONFIG);
            fetchTokenizer(hub, model, folder);
            if (wanted == Wanted.CHECKPOINT) {
                fetchWeights(hub, model, folder);
            }
        } catch (Failure e) {
            throw Failure.of(
                    e.getMessage() + "; a checkpoint that is here already can be given as -m FOLDER, or its files be"
                            + " placed in " + folder,
                    e);
        }
    }

    private void fetchTokenizer(Hub hub, KnownModel model, Path folder) {
        for (String file : ModelFiles.OPTIONAL) {
            fetchFile(hub, model, folder, file);
        }
        if (!fetchFile(hub, model, folder, ModelFiles.TOKENIZER)) {
            for (String file : ModelFiles.GPT2_TOKENIZER) {
                require(hub, model, folder, file);
            }
        }
    }

    private void fetchWeights(Hub hub, KnownModel model, Path folder) {
        Path index = folder.resolve(ModelFiles.INDEX);
        boolean isNew = !Files.isRegularFile(index);
        if (!fetchFile(hub, model, folder, ModelFiles.INDEX)) {
            require(hub, model, folder, ModelFiles.WEIGHTS);
            return;
        }
        for (String shard : isNew ? newShards(index) : ModelFiles.shards(index)) {
            require(hub, model, folder, shard);
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

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw Failure.of(file + " cannot be deleted: " + IoReason.of(e), e);
        }
    }

    private void require(Hub hub, KnownModel model, Path folder, String file) {
        if (!fetchFile(hub, model, folder, file)) {
            throw Failure.of(file + " is not in the repository " + model.repository());
        }
    }

    /** Whether the file is there, now. */
    private boolean fetchFile(Hub hub, KnownModel model, Path folder, String file) {
        return Files.isRegularFile(folder.resolve(file))
                || new Download(hub, console, model, folder, file, persistence).run();
    }

    /** How much of a model is needed. */
    private enum Wanted {
        CHECKPOINT,
        TOKENIZER;

        boolean isIn(Path folder) {
            return this == CHECKPOINT ? ModelFiles.isComplete(folder) : ModelFiles.hasTokenizer(folder);
        }
    }
}
