package io.github.tornadotransformers.models.program;

/**
 * The shape of (grouped-query) attention. A query head {@code h} reads key/value head {@code h / (heads / kvHeads)}.
 *
 * <p>The fused projection {@code qkv[row]} holds {@code heads} query heads, then {@code kvHeads} key heads, then
 * {@code kvHeads} value heads, {@code headDim} elements each. The cache of one layer holds keys
 * {@code [kvHead][headDim][contextLength]} and values {@code [kvHead][contextLength][headDim]}.
 *
 * @param contextLength positions that the cache and a row of scores hold
 */
public record AttentionShape(int heads, int kvHeads, int headDim, int contextLength) {
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

    /** Where in a row of the fused projection the key that a query head reads begins. */
    public int keyColumn(int head) {
        return queryWidth() + head / headsPerKvHead() * headDim;
    }

    /** Where in a row of the fused projection the value that a query head reads begins. */
    public int valueColumn(int head) {
        return keyColumn(head) + keyValueWidth();
    }

    /** Floats of the keys (and as many of the values) of one layer. */
    public long cacheLayerSize() {
        return Math.multiplyExact((long) keyValueWidth(), (long) contextLength);
    }
}
