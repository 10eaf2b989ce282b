package io.github.tornadotransformers.models;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
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

    private CacheFolder() {}

    /** As the environment of this process says. */
    public static Path path() {
        return path(System.getenv());
    }

    /**
     * {@code $TRANSFORMERS_CACHE}, else {@code tornado-transformers} in {@code $XDG_CACHE_HOME}, or in {@code ~/.cache}, where
     * {@code ~} is {@code $HOME}; it need not exist yet. Source: XDG Base Directory Specification, which has relative paths
     * ignored.
     *
     * @throws CheckpointException naming the variable, if it cannot be the name of a folder
     */
    public static Path path(Map<String, String> environment) {
        return folder(environment, VARIABLE)
                .or(() -> folder(environment, CACHES).filter(Path::isAbsolute).map(caches -> caches.resolve(NAME)))
                .orElseGet(() -> folder(environment, HOME)
                        .orElseGet(() -> Path.of(System.getProperty("user.home")))
                        .resolve(".cache")
                        .resolve(NAME));
    }

    private static Optional<Path> folder(Map<String, String> environment, String variable) {
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
}
