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
 * What Hugging Face's own libraries have fetched into a folder, read where it lies and never written: a model OWNER/NAME in
 * {@code models--OWNER--NAME}, its versions in {@code snapshots}, the newest one's name in {@code refs/main}.
 *
 * @see <a href="https://huggingface.co/docs/huggingface_hub/guides/manage-cache">its description</a>
 */
record HubCache(Path root) {
    private static final String MODEL = "models--";
    private static final String SEPARATOR = "--";

    private static final String REFS = "refs";
    private static final String MAIN = "main";

    /** A commit's hash: a name that leads nowhere else. */
    private static final String VERSION = "[A-Za-z0-9]+";

    /** The models, whole or not, by their names on the hub. */
    List<CachedFolder> models() {
        return modelFolders().stream().map(HubCache::cached).toList();
    }

    private static CachedFolder cached(Path folder) {
        Optional<Path> version = version(folder);
        return new CachedFolder(nameOf(folder), version.orElse(folder), version.map(HubCache::sourceOf), false);
    }

    /** @param snapshot the folder of one version in a cache */
    static Source sourceOf(Path snapshot) {
        Path model = snapshot.getParent().getParent();
        return new Source(nameOf(model), snapshot.getFileName().toString(), Optional.empty());
    }

    /**
     * The files of a model's newest version, or of the only one.
     *
     * @param name on the hub, as OWNER/NAME, or of its folder here
     */
    Optional<Path> model(String name) {
        return folder(name).flatMap(HubCache::version);
    }

    /**
     * The files of one version of a model.
     *
     * @param revision a commit, or the branch or tag by which it was fetched
     */
    Optional<Path> model(String name, String revision) {
        return folder(name)
                .flatMap(folder -> snapshot(folder, revision)
                        .or(() -> named(folder, revision).flatMap(version -> snapshot(folder, version))));
    }

    private Optional<Path> folder(String name) {
        String folder = name.startsWith(MODEL) ? name : MODEL + name.replace("/", SEPARATOR);
        return Optional.of(folder)
                .filter(text -> !text.contains("/"))
                .map(root::resolve)
                .filter(Files::isDirectory);
    }

    private static String nameOf(Path folder) {
        return folder.getFileName().toString().substring(MODEL.length()).replaceFirst(SEPARATOR, "/");
    }

    private static Optional<Path> snapshot(Path folder, String version) {
        return Optional.of(version)
                .filter(text -> text.matches(VERSION))
                .map(folder.resolve("snapshots")::resolve)
                .filter(Files::isDirectory);
    }

    /** What a branch or a tag stood for when it was fetched. */
    private static Optional<String> named(Path folder, String revision) {
        Path refs = folder.resolve(REFS);
        Path reference = refs.resolve(revision).normalize();
        try {
            return reference.startsWith(refs) && Files.isRegularFile(reference)
                    ? Optional.of(Files.readString(reference).strip())
                    : Optional.empty();
        } catch (IOException e) {
            throw Failure.of(reference + " cannot be read: " + IoReason.of(e), e);
        }
    }

    /** The version that {@code refs/main} names, or the only one there is. */
    private static Optional<Path> version(Path folder) {
        Optional<Path> main = named(folder, MAIN).flatMap(version -> snapshot(folder, version));
        if (main.isPresent()) {
            return main;
        }
        Path snapshots = folder.resolve("snapshots");
        try {
            List<Path> versions = Files.isDirectory(snapshots) ? folders(snapshots, "*") : List.of();
            return versions.size() == 1 ? Optional.of(versions.getFirst()) : Optional.empty();
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private List<Path> modelFolders() {
        try {
            return Files.isDirectory(root) ? folders(root, MODEL + "*") : List.of();
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
