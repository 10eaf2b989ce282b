package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.AttentionShape;
import java.util.Collections;
import java.util.List;

/**
 * The keys and values of one layer of one sequence, in pages: the one place that knows where in memory a position is.
 *
 * <p>A page holds positions that follow each other, keys as {@code [kvHead][headDim][position]}, values as
 * {@code [kvHead][position][headDim]}, so that both passes of attention read what is contiguous. Slices of sums over positions
 * do not cross the end of a page.
 */
public final class KvLayer {
    private static final int PAGE = AttentionShape.PAGE;

    private final int headDim;
    private final float[][] keys;
    private final float[][] values;

    /** From where a page begins in its array to where the next does: 0 where each has an array of its own. */
    private final int stride;

    private KvLayer(int headDim, float[][] keys, float[][] values, int stride) {
        this.headDim = headDim;
        this.keys = keys;
        this.values = values;
        this.stride = stride;
    }

    /** What a sequence has so far, in the order of its positions. */
    static KvLayer of(AttentionShape shape, List<KvPage> pages, int layer) {
        return new KvLayer(
                shape.headDim(),
                pages.stream().map(page -> page.keys(layer)).toArray(float[][]::new),
                pages.stream().map(page -> page.values(layer)).toArray(float[][]::new),
                0);
    }

    /**
     * The whole context, one page behind the other in one array.
     *
     * @param keys {@link AttentionShape#cacheLayerSize} elements, as are {@code values}
     */
    public static KvLayer contiguous(AttentionShape shape, float[] keys, float[] values) {
        int pages = AttentionShape.pages(shape.contextLength());
        return new KvLayer(
                shape.headDim(),
                Collections.nCopies(pages, keys).toArray(float[][]::new),
                Collections.nCopies(pages, values).toArray(float[][]::new),
                Math.multiplyExact(PAGE, shape.keyValueWidth()));
    }

    /** The first position behind the page that holds a position. */
    int pageEnd(int position) {
        return (position / PAGE + 1) * PAGE;
    }

    /** The array with the keys of a position, and of all others of its page. */
    public float[] keys(int position) {
        return keys[position / PAGE];
    }

    /** Where in {@link #keys} element {@code d} of a position's key is; that of the page's next position follows. */
    public int keyIndex(int kvHead, int d, int position) {
        return position / PAGE * stride + (kvHead * headDim + d) * PAGE + position % PAGE;
    }

    /** From an element of a key to the next, in {@link #keys}. */
    int keyStride() {
        return PAGE;
    }

    /** The array with the values of a position, and of all others of its page. */
    public float[] values(int position) {
        return values[position / PAGE];
    }

    /** Where in {@link #values} a position's value begins; that of the page's next position follows. */
    public int valueIndex(int kvHead, int position) {
        return position / PAGE * stride + (kvHead * PAGE + position % PAGE) * headDim;
    }
}
