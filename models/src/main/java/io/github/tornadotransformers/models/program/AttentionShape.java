package io.github.tornadotransformers.models.program;

import java.util.Optional;

/**
 * The shape of (grouped-query) attention. A query head {@code h} reads key/value head {@code h / (heads / kvHeads)}.
 *
 * <p>The fused projection {@code qkv[row]} holds {@code heads} query heads, then {@code kvHeads} key heads, then
 * {@code kvHeads} value heads, {@code headDim} elements each. The cache of one layer holds keys
 * {@code [page][kvHead][headDim][position]} and values {@code [page][kvHead][position][headDim]}, a page being {@link #PAGE}
 * positions.
 *
 * @param contextLength positions that the cache and a row of scores hold
 * @param window how many positions a query sees, its own and those before it; {@link #EVERYTHING} for all of them
 */
public record AttentionShape(int heads, int kvHeads, int headDim, int contextLength, int window) {
    /** The window of attention that sees every position up to its own. */
    public static final int EVERYTHING = Integer.MAX_VALUE;

    /** Positions of a page of the cache: a slice of the contract's sums, which therefore never cross the end of one. */
    public static final int PAGE = 128;

    public AttentionShape {
        if (window < 1) {
            throw new IllegalArgumentException("a window of " + window + " positions, expected at least 1");
        }
    }

    /** Causal attention: a query sees every position up to its own. */
    public AttentionShape(int heads, int kvHeads, int headDim, int contextLength) {
        this(heads, kvHeads, headDim, contextLength, EVERYTHING);
    }

    /** The same with a sliding window, arXiv:2004.05150. */
    public AttentionShape withWindow(int window) {
        return new AttentionShape(heads, kvHeads, headDim, contextLength, window);
    }

    /** Why gradients do not know it; empty where they do. */
    Optional<String> whyNotLearned() {
        return window < contextLength ? Optional.of("has a window shorter than the context") : Optional.empty();
    }

    /** The first position that the query of a position sees. */
    public int firstVisible(int position) {
        return position < window ? 0 : position + 1 - window;
    }

    /**
     * How many rows, from the first, may see a position: those behind have moved their window past it.
     *
     * @param firstPosition of the first row, as {@code rows} follow each other
     */
    public int rowsSeeing(int position, int firstPosition, int rows) {
        return (int) Math.min(rows, (long) position + window - firstPosition);
    }

    /** How many positions the query of a position sees. */
    public int visible(int position) {
        return Math.min(position + 1, window);
    }

    public int queryWidth() {
        return heads * headDim;
    }

    public int keyValueWidth() {
        return kvHeads * headDim;
    }

    /** Width of the fused projection: queries, keys and values side by side. */
    public int fusedWidth() {
        return queryWidth() + 2 * keyValueWidth();
    }

    /** Width of a row of scores: one per head and position. */
    public int scoresWidth() {
        return Math.multiplyExact(heads, contextLength);
    }

    public int headsPerKvHead() {
        return heads / kvHeads;
    }

    /** The key/value head that a query head reads. */
    public int kvHead(int head) {
        return head / headsPerKvHead();
    }

    /** Where in a row of the fused projection the key that a query head reads begins. */
    public int keyColumn(int head) {
        return queryWidth() + kvHead(head) * headDim;
    }

    /** Where in a row of the fused projection the value that a query head reads begins. */
    public int valueColumn(int head) {
        return keyColumn(head) + keyValueWidth();
    }

    /** Pages that hold so many positions. */
    public static int pages(int positions) {
        return Math.ceilDiv(positions, PAGE);
    }

    /** Elements of the keys (and as many of the values) of one layer: whole pages. */
    public long cacheLayerSize() {
        return cacheLayerSize(pages(contextLength));
    }

    /** The same of so many pages. */
    public long cacheLayerSize(int pages) {
        return Math.multiplyExact((long) keyValueWidth() * PAGE, (long) pages);
    }
}
