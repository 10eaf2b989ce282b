package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What Hugging Face's own libraries have fetched into a folder, which older ones find by the variable that names our cache,
 * too: a model OWNER/NAME in {@code models--OWNER--NAME}, its versions in {@code snapshots}, the wanted one in
 * {@code refs/main}.
 *
 * @see <a href="https://huggingface.co/docs/huggingface_hub/guides/manage-cache">its description</a>
 */
record HubCache(Path root) {
    private static final String MODEL = "models--";
    private static final String SEPARATOR = "--";

    /** A commit's hash: a name that leads nowhere else. */
    private static final String VERSION = "[A-Za-z0-9]+";

    private static final List<String> KINDS = List.of(MODEL, "datasets--", "spaces--");

    /** Whether a folder's name is one of such a cache. */
    static boolean owns(Path folder) {
        String name = folder.getFileName().toString();
        return KINDS.stream().anyMatch(name::startsWith);
    }

    /** Whether there is anything of a hub's cache in the folder. */
    boolean exists() {
        return !owned("*").isEmpty();
    }

    /** The models, whole or not, by their names on the hub. */
    List<CachedFolder> models() {
        return owned(MODEL + "*").stream()
                .map(folder -> new CachedFolder(nameOf(folder), version(folder).orElse(folder)))
                .toList();
    }

    /**
     * The files of a model.
     *
     * @param name on the hub, as OWNER/NAME, or of its folder here
     */
    Optional<Path> model(String name) {
        String folder = name.startsWith(MODEL) ? name : MODEL + name.replace("/", SEPARATOR);
        return folder.contains("/") || !Files.isDirectory(root.resolve(folder))
                ? Optional.empty()
                : version(root.resolve(folder));
    }

    private static String nameOf(Path folder) {
        return folder.getFileName().toString().substring(MODEL.length()).replaceFirst(SEPARATOR, "/");
    }

    /** The version that {@code refs/main} names, or the only one there is. */
    private static Optional<Path> version(Path folder) {
        Path snapshots = folder.resolve("snapshots");
        Path main = folder.resolve("refs").resolve("main");
        try {
            if (Files.isRegularFile(main)) {
                String named = Files.readString(main).strip();
                if (named.matches(VERSION) && Files.isDirectory(snapshots.resolve(named))) {
                    return Optional.of(snapshots.resolve(named));
                }
            }
            List<Path> versions = Files.isDirectory(snapshots) ? folders(snapshots, "*") : List.of();
            return versions.size() == 1 ? Optional.of(versions.getFirst()) : Optional.empty();
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private List<Path> owned(String pattern) {
        try {
            return Files.isDirectory(root)
                    ? folders(root, pattern).stream().filter(HubCache::owns).toList()
                    : List.of();
        } catch (IOException e) {
            throw Failure.of(root + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private static List<Path> folders(Path parent, String pattern) throws IOException {
        List<Path> folders = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent, pattern)) {
            for (Path entry : entries) {
                if (Files.isDirectory(entry)) {
                    folders.add(entry);
                }
            }
        }
        folders.sort(null);
        return folders;
    }
}
