package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** The caches of an engine, and the pages of memory that they share: who has which, and whether a batch fits. */
public final class PagedCaches {
    private final Program program;
    private final PagePool pool;
    private final PageMemory memory;
    private final PrefixCache prefixes;

    /** @param pages that there are at most, 1 or more */
    public PagedCaches(Program program, int pages, PageMemory memory) {
        this.program = program;
        this.memory = memory;
        pool = new PagePool(pages, memory::freed);
        prefixes = new PrefixCache(pool, memory);
        pool.reclaimFrom(prefixes::reclaim);
    }

    /** As {@link Engine#open}. */
    public PagedCache open(int positions) {
        if (positions < 1 || positions > program.contextLength()) {
            throw new IllegalArgumentException(
                    "a cache of " + positions + " positions, expected 1 to " + program.contextLength());
        }
        return new PagedCache(pool, prefixes, positions);
    }

    /** As {@link Engine#canHold}. */
    public boolean canHold(int positions) {
        return AttentionShape.pages(positions) <= pool.size();
    }

    /** As {@link Engine#cacheUse}. */
    public CacheUse use() {
        return pool.use();
    }

    /** As {@link Engine#saveKept}. */
    public void saveKept(Path file, String key) throws IOException {
        requireFiles();
        PrefixFile.write(file, key, prefixes.entries(), memory);
    }

    /** As {@link Engine#loadKept}. */
    public Optional<String> loadKept(Path file, String key) {
        requireFiles();
        prefixes.clear();
        return PrefixFile.read(file, key, memory.pageBytes(), program.vocabSize(), prefixes.restore());
    }

    private void requireFiles() {
        if (memory.pageBytes() == 0) {
            throw new EngineException("this engine keeps no keys and values in files");
        }
    }

    /**
     * Gives all caches of a batch the memory that their spans need, or none; they hold what is before their spans then, and no more.
     *
     * @throws CacheFullException as {@link Engine#run} does
     * @throws IllegalArgumentException as {@link Engine#run} does
     */
    public void admit(Batch batch) {
        requireFitting(batch);
        reserve(batch);
    }

    private void requireFitting(Batch batch) {
        if (batch.spans().isEmpty()) {
            throw new IllegalArgumentException("a batch needs at least one span");
        }
        Set<KvCache> caches = new HashSet<>();
        for (Span span : batch.spans()) {
            requireFitting(span);
            if (!caches.add(span.cache())) {
                throw new IllegalArgumentException("two spans of a batch have the same cache");
            }
        }
    }

    private void requireFitting(Span span) {
        if (!(span.cache() instanceof PagedCache cache && cache.isOf(pool)) || cache.isClosed()) {
            throw new IllegalArgumentException("a span's cache is closed, or was opened by another engine");
        }
        int[] tokens = span.tokens();
        int first = span.firstPosition();
        if (tokens.length == 0) {
            throw new IllegalArgumentException("a span needs at least one token");
        }
        if (first < 0 || first > cache.positions() - tokens.length) {
            throw new IllegalArgumentException("positions " + first + " to " + ((long) first + tokens.length - 1)
                    + " do not fit a context of " + cache.positions());
        }
        if (first > cache.length()) {
            throw new IllegalArgumentException("position " + first + " follows on what was not run: the cache holds "
                    + cache.length() + " positions");
        }
        for (int token : tokens) {
            if (token < 0 || token >= program.vocabSize()) {
                throw new IllegalArgumentException(
                        "token id " + token + " is not in the vocabulary of " + program.vocabSize());
            }
        }
    }

    private void reserve(Batch batch) {
        int missing = 0;
        for (Span span : batch.spans()) {
            missing += ((PagedCache) span.cache()).missing(span.end());
        }
        if (!pool.provides(missing)) {
            throw new CacheFullException(missing, pool.free(), pool.size(), AttentionShape.PAGE);
        }
        for (Span span : batch.spans()) {
            PagedCache cache = (PagedCache) span.cache();
            cache.reserve(span.end());
            cache.setLength(span.firstPosition());
        }
    }
}
