package io.github.tornadotransformers.models.batching;

/**
 * How much of an engine's memory for keys and values is in use, in pages.
 *
 * @param pages that there are at most
 * @param used by sequences, or kept for those to come
 * @param shared by more than one sequence, or by one and what is kept
 */
public record CacheUse(int pages, int used, int shared) {}
