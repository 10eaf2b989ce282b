package io.github.tornadotransformers.runner.hub;

import java.nio.file.Path;

/**
 * A model in the cache, whole or not.
 *
 * @param name that {@code -m} takes
 */
public record CachedFolder(String name, Path folder) {}
