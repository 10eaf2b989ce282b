package io.github.tornadotransformers.models;

import java.nio.file.Path;

/** Where downloaded and unpacked files are kept. */
public final class CacheFolder {
    /** The environment variable that names another folder than the usual one. */
    public static final String VARIABLE = "TRANSFORMERS_CACHE";

    private CacheFolder() {}

    /** {@code $TRANSFORMERS_CACHE}, else {@code ~/.cache/tornado-transformers}; it need not exist yet. */
    public static Path path() {
        String chosen = System.getenv(VARIABLE);
        return chosen == null || chosen.isBlank()
                ? Path.of(System.getProperty("user.home"), ".cache", "tornado-transformers")
                : Path.of(chosen);
    }
}
