package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.CacheFolder;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The models that have a name: one folder each in our cache, filled from the hub when first asked for, and what Hugging Face's own
 * libraries have fetched, read where it lies. What someone has placed in our cache by hand is used as it is.
 */
public final class ModelCache {
    private static final String OFFLINE = "HF_HUB_OFFLINE";
    private static final String OLDER_OFFLINE = "TRANSFORMERS_OFFLINE";

    private final Console console;
    private final CacheContents contents;
    private final Persistence persistence;

    public ModelCache(Console console) {
        this(console, Persistence.DEFAULT);
    }

    ModelCache(Console console, Persistence persistence) {
        this.console = console;
        this.persistence = persistence;
        contents = new CacheContents(console);
    }

    /** Where checkpoints' weights are kept as they are in memory. */
    public static Path packs(Console console) {
        return CacheFolder.path(console.environment()).resolve(CacheContents.PACKS);
    }

    /** Where models are fetched to. */
    public Path root() {
        return contents.root();
    }

    /**
     * The checkpoint that a user means.
     *
     * @param nameOrFolder a folder, its {@code config.json}, a known name, OWNER/NAME of the hub with or without a revision, or the
     *     name of a folder in the cache
     * @throws Failure if there is none, or it cannot be fetched
     */
    public Path checkpoint(String nameOrFolder) {
        return find(nameOrFolder, Wanted.CHECKPOINT);
    }

    /** As {@link #checkpoint}, where only the files of the tokenizer are needed. */
    public Path tokenizer(String nameOrFolder) {
        return find(nameOrFolder, Wanted.TOKENIZER);
    }

    /** Where Hugging Face's libraries keep theirs, which are read, too. */
    public Path hubCache() {
        return contents.hubCache();
    }

    /** The models that are in the caches, whole or not, by name; those of Hugging Face's own libraries come last. */
    public List<CachedFolder> folders() {
        return contents.folders();
    }

    /**
     * What is here of a model, whole or not, without fetching anything.
     *
     * @param name as {@link #checkpoint} takes it, but for folders
     */
    public Optional<CachedFolder> cached(String name) {
        return contents.find(name)
                .or(() -> ShippedModels.find(console, name)
                        .map(folder -> new CachedFolder(name, folder, Optional.empty(), false)));
    }

    /**
     * Deletes a model and its packs from our cache, and nothing else: of a link, the link.
     *
     * @throws Failure if it does not lie there, is being fetched, or cannot be deleted
     */
    public void delete(CachedFolder model) {
        contents.delete(model);
    }

    /** As {@link #checkpoint} would fetch it; empty if it is no name of the hub. */
    public Optional<Source> onHub(String name) {
        return HubModel.parse(name).map(model -> new Source(model.repository(), model.revision(), model.asked()));
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
        boolean known = KnownModel.named(nameOrFolder).isPresent() && !Files.isDirectory(path);
        if (!known && Files.exists(path)) {
            return path;
        }
        Optional<HubModel> onHub = HubModel.parse(nameOrFolder);
        if (onHub.isPresent()) {
            return onHub(onHub.get(), wanted);
        }
        return contents.byHand(nameOrFolder)
                .orElseThrow(() -> Failure.of("model " + Quoted.line(nameOrFolder)
                        + " is neither a folder nor a known name (" + String.join(", ", ShippedModels.names()) + ", "
                        + KnownModel.names() + ") nor OWNER/NAME of the hub" + didYouMean(nameOrFolder)));
    }

    private Path onHub(HubModel model, Wanted wanted) {
        Path folder = whole(model, wanted);
        return model.gguf().map(folder::resolve).orElse(folder);
    }

    /** A folder that holds all that is wanted of a model. */
    private Path whole(HubModel model, Wanted wanted) {
        Path folder = contents.folder(model.folderName());
        if (holds(folder, model, wanted)) {
            return folder;
        }
        Optional<Path> fetchedByOthers = contents.fetchedByOthers(model)
                .filter(snapshot -> holds(snapshot, model, wanted))
                .findFirst();
        if (fetchedByOthers.isPresent()) {
            return fetchedByOthers.get();
        }
        requireOnline(model, folder);
        fetch(model, folder, wanted);
        return folder;
    }

    private static boolean holds(Path folder, HubModel model, Wanted wanted) {
        return model.gguf().isPresent()
                ? model.ggufFiles().stream().allMatch(file -> Files.isRegularFile(folder.resolve(file)))
                : wanted.isIn(folder);
    }

    private void requireOnline(HubModel model, Path folder) {
        for (String variable : List.of(OFFLINE, OLDER_OFFLINE)) {
            if (Switch.isOn(console, variable)) {
                throw Failure.of(model.name() + " is not here (looked for it in " + folder + " and "
                        + contents.hubCache() + "), and " + variable
                        + " forbids to fetch it: unset that, or give"
                        + " a folder");
            }
        }
    }

    private void fetch(HubModel model, Path folder, Wanted wanted) {
        try (FileChannel channel = contents.lockFile(folder);
                FileLock _ = lock(channel, model.name())) {
            Files.createDirectories(folder);
            try {
                fetchMissing(model, folder, wanted);
            } finally {
                deleteIfEmpty(folder);
            }
        } catch (IOException e) {
            throw Failure.of(
                    "the cache folder " + folder + " cannot be used: " + IoReason.of(e) + " (" + CacheFolder.VARIABLE
                            + " names another)",
                    e);
        }
    }

    private FileLock lock(FileChannel channel, String name) throws IOException {
        FileLock lock = channel.tryLock();
        if (lock == null) {
            console.err().println("another process is fetching " + name + "; waiting …");
            lock = channel.lock();
        }
        return lock;
    }

    private static void deleteIfEmpty(Path folder) throws IOException {
        try {
            Files.delete(folder);
        } catch (DirectoryNotEmptyException | NoSuchFileException _) {
            // There is something, or nothing at all.
        }
    }

    private void fetchMissing(HubModel model, Path folder, Wanted wanted) {
        if (holds(folder, model, wanted)) {
            return; // another process has just done it
        }
        try {
            Fetch fetch = new Fetch(new Hub(console), console, model, folder, persistence);
            console.err().println(fetch.words());
            fetch.run(wanted == Wanted.CHECKPOINT);
        } catch (UnknownRepositoryException e) {
            throw Failure.of(
                    e.getMessage() + (model.known().isPresent() ? "" : didYouMean(model.name())) + advice(folder), e);
        } catch (Failure e) {
            throw Failure.of(e.getMessage() + advice(folder), e);
        }
    }

    private static String advice(Path folder) {
        return "; a checkpoint that is here already can be given as -m FOLDER, or its files be placed in " + folder;
    }

    /** What may be meant by a name that leads nowhere, for the end of a message. */
    public String didYouMean(String name) {
        return NearestName.of(name, names())
                .map(near -> "; did you mean " + near + "?")
                .orElse("");
    }

    private Collection<String> names() {
        TreeSet<String> names = new TreeSet<>(ShippedModels.names());
        KnownModel.all().forEach(model -> names.addAll(List.of(model.name(), model.repository())));
        folders().forEach(folder -> names.add(folder.name()));
        return names;
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
