package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.PagedCache;
import io.github.tornadotransformers.models.program.AttentionShape;
import java.util.List;

/**
 * The keys and values of one layer of one sequence, in pages: the one place that knows where in memory a position is.
 *
 * <p>A page holds positions that follow each other, keys as {@code [kvHead][headDim][position]}, values as
 * {@code [kvHead][position][headDim]}, so that both passes of attention read what is contiguous. Slices of sums over positions
 * do not cross the end of a page.
 */
public final class KvLayer {
    private final int headDim;
    private final int pageSize;
    private final float[][] keys;
    private final float[][] values;

    private KvLayer(int headDim, int pageSize, float[][] keys, float[][] values) {
        this.headDim = headDim;
        this.pageSize = pageSize;
        this.keys = keys;
        this.values = values;
    }

    /** What a sequence has so far, in the order of its positions. */
    static KvLayer of(AttentionShape shape, List<KvPage> pages, int layer) {
        return new KvLayer(
                shape.headDim(),
                PagedCache.PAGE,
                pages.stream().map(page -> page.keys(layer)).toArray(float[][]::new),
                pages.stream().map(page -> page.values(layer)).toArray(float[][]::new));
    }

    /**
     * The whole context as a single page.
     *
     * @param keys {@code [kvHead][headDim][contextLength]}
     * @param values {@code [kvHead][contextLength][headDim]}
     */
    public static KvLayer contiguous(AttentionShape shape, float[] keys, float[] values) {
        return new KvLayer(shape.headDim(), shape.contextLength(), new float[][] {keys}, new float[][] {values});
    }

    /** The first position behind the page that holds a position. */
    int pageEnd(int position) {
        return (position / pageSize + 1) * pageSize;
    }

    /** The array with the keys of a position, and of all others of its page. */
    public float[] keys(int position) {
        return keys[position / pageSize];
    }

    /** Where in {@link #keys} element {@code d} of a position's key is; that of the page's next position follows. */
    public int keyIndex(int kvHead, int d, int position) {
        return (kvHead * headDim + d) * pageSize + position % pageSize;
    }

    /** From an element of a key to the next, in {@link #keys}. */
    int keyStride() {
        return pageSize;
    }

    /** The array with the values of a position, and of all others of its page. */
    public float[] values(int position) {
        return values[position / pageSize];
    }

    /** Where in {@link #values} a position's value begins; that of the page's next position follows. */
    public int valueIndex(int kvHead, int position) {
        return (kvHead * pageSize + position % pageSize) * headDim;
    }
}
