package io.github.tornadotransformers.runner.hub;

import java.nio.file.Path;

/**
 * A model in a cache, whole or not.
 *
 * @param name that {@code -m} takes
 * @param ours whether it is in our cache, and not in that of Hugging Face's libraries
 */
public record CachedFolder(String name, Path folder, boolean ours) {}
