package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.program.AttentionShape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A cache whose memory is pages of its engine's, which are told apart by their numbers: its page table. A page is {@link AttentionShape#PAGE} positions. */
public final class PagedCache implements KvCache {
    private final PagePool pool;
    private final PrefixCache prefixes;
    private final int positions;
    private final List<Integer> pages = new ArrayList<>();
    private int length;
    private boolean closed;

    PagedCache(PagePool pool, PrefixCache prefixes, int positions) {
        this.pool = pool;
        this.prefixes = prefixes;
        this.positions = positions;
    }

    @Override
    public int positions() {
        return positions;
    }

    @Override
    public int length() {
        return length;
    }

    /** From now on only the first positions count. */
    void setLength(int length) {
        this.length = length;
    }

    boolean isOf(PagePool other) {
        return pool == other;
    }

    boolean isClosed() {
        return closed;
    }

    /** How many pages it has. */
    public int pages() {
        return pages.size();
    }

    /** The number of the page that holds positions {@code index * PAGE} and those that follow. */
    public int page(int index) {
        return pages.get(index);
    }

    /** Pages that it lacks to hold so many positions. */
    int missing(int wanted) {
        return Math.max(0, AttentionShape.pages(wanted) - pages.size());
    }

    @Override
    public boolean reserve(int wanted) {
        if (closed || wanted > positions) {
            throw new IllegalArgumentException(
                    closed ? "the cache is closed" : wanted + " positions do not fit a cache of " + positions);
        }
        int missing = missing(wanted);
        List<Integer> taken = pool.take(missing);
        pages.addAll(taken);
        return taken.size() == missing;
    }

    @Override
    public int reuse(int[] tokens) {
        if (closed || !pages.isEmpty()) {
            throw new IllegalArgumentException("the cache is closed, or holds positions already");
        }
        return prefixes.adopt(this, Arrays.copyOf(tokens, Math.min(tokens.length, positions)));
    }

    @Override
    public void share(int[] tokens) {
        if (closed || tokens.length > length) {
            throw new IllegalArgumentException(
                    closed ? "the cache is closed" : tokens.length + " tokens, but the cache holds " + length);
        }
        prefixes.keep(this, tokens);
    }

    /** Takes a page that others hold as well. */
    void add(int page) {
        pool.hold(page);
        pages.add(page);
    }

    /** Takes a page that was taken for it. */
    void addTaken(int page) {
        pages.add(page);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            pool.release(pages);
            pages.clear();
        }
    }
}
