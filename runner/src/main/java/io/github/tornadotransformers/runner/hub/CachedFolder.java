package io.github.tornadotransformers.runner.hub;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A model in a cache, whole or not.
 *
 * @param name that {@code -m} takes
 * @param source where it is from; empty where somebody has placed it there
 * @param ours whether it is in our cache, and not in that of Hugging Face's libraries
 */
public record CachedFolder(String name, Path folder, Optional<Source> source, boolean ours) {}
