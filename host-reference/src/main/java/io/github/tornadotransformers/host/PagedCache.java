package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.program.AttentionShape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A cache whose memory is pages of a pool: its page table. */
final class PagedCache implements KvCache {
    private final PagePool pool;
    private final int positions;
    private final List<KvPage> pages = new ArrayList<>();
    private final List<KvLayer> layers;
    private int length;
    private boolean closed;

    PagedCache(PagePool pool, AttentionShape shape, int positions) {
        this.pool = pool;
        this.positions = positions;
        this.layers = IntStream.range(0, pool.layers())
                .mapToObj(_ -> KvLayer.paged(shape, pagesFor(positions)))
                .toList();
    }

    /** Pages that hold so many positions. */
    static int pagesFor(int positions) {
        return Math.ceilDiv(positions, KvLayer.PAGE);
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

    /** Pages that it lacks to hold so many positions. */
    int missing(int positions) {
        return Math.max(0, pagesFor(positions) - pages.size());
    }

    @Override
    public boolean reserve(int wanted) {
        if (closed || wanted > positions) {
            throw new IllegalArgumentException(
                    closed ? "the cache is closed" : wanted + " positions do not fit a cache of " + positions);
        }
        int missing = missing(wanted);
        List<KvPage> taken = pool.take(missing);
        taken.forEach(this::add);
        return taken.size() == missing;
    }

    private void add(KvPage page) {
        for (int layer = 0; layer < layers.size(); layer++) {
            layers.get(layer).set(pages.size(), page.keys(layer), page.values(layer));
        }
        pages.add(page);
    }

    KvLayer layer(int layer) {
        return layers.get(layer);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (KvLayer layer : layers) {
            for (int page = 0; page < pages.size(); page++) {
                layer.set(page, null, null);
            }
        }
        pool.release(pages);
        pages.clear();
    }
}
