package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.CacheFolder;
import io.github.tornadotransformers.models.HuggingFaceFolders;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.checkpoint.WeightPack;
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
import java.util.stream.Stream;

/** What lies where in our cache, and in those of Hugging Face's libraries, which may lie around it. */
final class CacheContents {
    /** Of packed weights. */
    static final String PACKS = ".packs";

    /** Of locks, which are never deleted: another process may wait for one. */
    private static final String LOCKS = ".locks";

    private final Path root;
    private final Path named;
    private final List<HubCache> hubCaches;

    CacheContents(Console console) {
        root = CacheFolder.path(console.environment());
        named = CacheFolder.named(console.environment());
        hubCaches = Stream.of(HuggingFaceFolders.hubCache(console.environment()), named)
                .distinct()
                .map(HubCache::new)
                .toList();
    }

    /** Where models are fetched to. */
    Path root() {
        return root;
    }

    /** Where Hugging Face's libraries keep theirs, which are read, too. */
    Path hubCache() {
        return hubCaches.getFirst().root();
    }

    /** The models that are in the caches, whole or not, by name; those of Hugging Face's own libraries come last. */
    List<CachedFolder> folders() {
        List<CachedFolder> folders = new ArrayList<>(folders(named));
        if (!named.equals(root)) {
            folders.addAll(folders(root));
        }
        hubCaches.forEach(cache -> folders.addAll(cache.models()));
        return folders;
    }

    private List<CachedFolder> folders(Path parent) {
        List<CachedFolder> folders = new ArrayList<>();
        if (Files.isDirectory(parent)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent)) {
                for (Path entry : entries) {
                    if (isModel(entry)) {
                        folders.add(ours(entry));
                    }
                }
            } catch (IOException e) {
                throw Failure.of(parent + " cannot be read: " + IoReason.of(e), e);
            }
        }
        folders.sort(Comparator.comparing(CachedFolder::name));
        return folders;
    }

    /** Whether a folder is a model of our cache, whatever else lies around it. */
    private boolean isOurs(Path folder) {
        try {
            Path parent = folder.getParent();
            return (root.equals(parent) || named.equals(parent)) && isModel(folder);
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private boolean isModel(Path entry) throws IOException {
        return !entry.getFileName().toString().startsWith(".")
                && !CacheFolder.isOfHuggingFace(entry)
                && !entry.equals(root)
                && holdsFiles(entry)
                && (parentIsOurs(entry) || Files.exists(entry.resolve(ModelFiles.CONFIG)));
    }

    /** In a folder that others use, too, only what is a model is meant. */
    private boolean parentIsOurs(Path entry) {
        return root.equals(entry.getParent());
    }

    private static boolean holdsFiles(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            return files.iterator().hasNext();
        }
    }

    private static CachedFolder ours(Path folder) {
        String placed = folder.getFileName().toString();
        Optional<Source> source = Source.of(folder);
        String name = KnownModel.named(placed).isPresent()
                ? placed
                : source.map(from -> from.repository()
                                + from.asked().map(asked -> "@" + asked).orElse(""))
                        .orElse(placed);
        return new CachedFolder(name, folder, source, true);
    }

    /**
     * What is here of a model, whole or not.
     *
     * @param name a short name, OWNER/NAME with or without a revision, or that of a folder in a cache
     */
    Optional<CachedFolder> find(String name) {
        Optional<HubModel> onHub = HubModel.parse(name);
        Optional<CachedFolder> ours = Optional.of(name)
                .filter(text -> onHub.isPresent() || isFolderName(text))
                .map(text -> folder(onHub.map(HubModel::folderName).orElse(text)))
                .filter(this::isOurs)
                .map(CacheContents::ours);
        return ours.or(() -> onHub.map(this::fetchedByOthers)
                .orElseGet(() -> hubCaches.stream().flatMap(cache -> cache.model(name).stream()))
                .map(folder -> new CachedFolder(name, folder, Optional.of(HubCache.sourceOf(folder)), false))
                .findFirst());
    }

    /** Whether it can be the name of a folder right in the cache. */
    private static boolean isFolderName(String name) {
        Path path = Path.of(name);
        return !path.isAbsolute() && path.getNameCount() == 1 && !name.isEmpty() && !name.startsWith(".");
    }

    /** A model by its folder's name in a cache. */
    Optional<Path> byHand(String name) {
        if (!isFolderName(name)) {
            return Optional.empty();
        }
        return hubCaches.stream()
                .flatMap(cache -> cache.model(name).stream())
                .findFirst()
                .or(() -> Optional.of(folder(name)).filter(Files::isDirectory));
    }

    /** A model's folder: where it is, else where it is to be. */
    Path folder(String name) {
        Path placed = named.resolve(name);
        return Files.isDirectory(placed) ? placed : root.resolve(name);
    }

    /** A model's versions in the caches of Hugging Face's libraries, the best first. */
    Stream<Path> fetchedByOthers(HubModel model) {
        return hubCaches.stream().flatMap(cache -> fetchedInto(cache, model));
    }

    /** GPT-2 had no owner when the oldest libraries fetched it. */
    private static Stream<Path> fetchedInto(HubCache cache, HubModel model) {
        Stream<Path> asked = cache.model(model.repository(), model.revision()).stream();
        return model.asked().isPresent()
                ? asked
                : Stream.concat(
                        asked,
                        Stream.of(model.repository(), model.folderName()).flatMap(name -> cache.model(name).stream()));
    }

    /** @throws Failure if it does not lie in our cache, is being fetched, or cannot be deleted */
    void delete(CachedFolder model) {
        Path folder = model.folder();
        if (!model.ours() || !isOurs(folder)) {
            throw Failure.of(folder + " is not in our cache, " + root);
        }
        try (FileChannel channel = lockFile(folder);
                FileLock lock = channel.tryLock()) {
            if (lock == null) {
                throw Failure.of(model.name() + " is being fetched by another process: nothing was deleted");
            }
            List<String> packs = packs(folder);
            FolderTree.delete(folder);
            deletePacks(packs);
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be deleted: " + IoReason.of(e), e);
        }
    }

    /** What begins the names of the packs of a folder and of the files in it. */
    private static List<String> packs(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return Stream.concat(Stream.of(folder), files.filter(Files::isRegularFile))
                    .map(WeightPack::prefix)
                    .toList();
        }
    }

    private void deletePacks(List<String> prefixes) throws IOException {
        if (!Files.isDirectory(root.resolve(PACKS))) {
            return;
        }
        try (DirectoryStream<Path> packs = Files.newDirectoryStream(root.resolve(PACKS))) {
            for (Path pack : packs) {
                if (prefixes.stream().anyMatch(pack.getFileName().toString()::startsWith)) {
                    Files.delete(pack);
                }
            }
        }
    }

    /** Who fetches into a folder, or deletes it, holds a lock on this file. */
    FileChannel lockFile(Path folder) throws IOException {
        Path locks = Files.createDirectories(root.resolve(LOCKS));
        return FileChannel.open(
                locks.resolve(folder.getFileName()), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }
}
