package io.github.tornadotransformers.models;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Where downloaded and unpacked files are kept. */
public final class CacheFolder {
    /** The environment variable that names another folder than the usual one. */
    public static final String VARIABLE = "TRANSFORMERS_CACHE";

    /** The subfolder of what a user's programs share. */
    public static final String NAME = "tornado-transformers";

    private static final String CACHES = "XDG_CACHE_HOME";
    private static final String HOME = "HOME";

    /** What begins the names of folders in a cache of Hugging Face's own libraries. */
    private static final List<String> OF_HUGGING_FACE = List.of("models--", "datasets--", "spaces--");

    private CacheFolder() {}

    /** As the environment of this process says. */
    public static Path path() {
        return path(System.getenv());
    }

    /**
     * The folder that is ours alone; it need not exist yet: the {@link #named} one, or, where that is a cache of Hugging Face's
     * libraries, its subfolder {@code tornado-transformers}.
     *
     * @throws CheckpointException naming the variable, if it cannot be the name of a folder
     */
    public static Path path(Map<String, String> environment) {
        Path named = named(environment);
        boolean shared = holdsFilesOfHuggingFace(named)
                || isSame(named, HuggingFaceFolders.home(environment))
                || isSame(named, HuggingFaceFolders.hubCache(environment));
        return shared ? named.resolve(NAME) : named;
    }

    /**
     * {@code $TRANSFORMERS_CACHE}, whosever else it is, else {@code tornado-transformers} in the {@link #ofPrograms folder of
     * all programs}.
     *
     * @throws CheckpointException as {@link #path(Map)}
     */
    public static Path named(Map<String, String> environment) {
        return folder(environment, VARIABLE)
                .orElseGet(() -> ofPrograms(environment).resolve(NAME));
    }

    /** Whether a folder's name is one that Hugging Face's libraries give to what they have fetched. */
    public static boolean isOfHuggingFace(Path folder) {
        String name = folder.getFileName().toString();
        return OF_HUGGING_FACE.stream().anyMatch(name::startsWith);
    }

    /**
     * {@code $XDG_CACHE_HOME}, else {@code ~/.cache}, where {@code ~} is {@code $HOME}. Source: XDG Base Directory
     * Specification, which has relative paths ignored.
     */
    static Path ofPrograms(Map<String, String> environment) {
        return folder(environment, CACHES)
                .filter(Path::isAbsolute)
                .orElseGet(() -> home(environment).resolve(".cache"));
    }

    static Path home(Map<String, String> environment) {
        return folder(environment, HOME).orElseGet(() -> Path.of(System.getProperty("user.home")));
    }

    /** A variable's value; empty where it is not set or blank. */
    static Optional<Path> folder(Map<String, String> environment, String variable) {
        String value = environment.get(variable);
        try {
            return value == null || value.isBlank() ? Optional.empty() : Optional.of(Path.of(value));
        } catch (InvalidPathException e) {
            throw new CheckpointException(
                    variable + " is " + Quoted.text(value) + ", which cannot be the name of a folder here: "
                            + e.getReason(),
                    e);
        }
    }

    private static boolean holdsFilesOfHuggingFace(Path folder) {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, CacheFolder::isOfHuggingFace)) {
            return entries.iterator().hasNext();
        } catch (IOException _) {
            return false; // whoever reads or writes there is told why it cannot be
        }
    }

    private static boolean isSame(Path one, Path other) {
        try {
            return one.toAbsolutePath()
                            .normalize()
                            .equals(other.toAbsolutePath().normalize())
                    || (Files.exists(one) && Files.exists(other) && Files.isSameFile(one, other));
        } catch (IOException _) {
            return false;
        }
    }
}
