package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.program.AttentionShape;
import java.util.Collections;
import java.util.List;

/**
 * The keys and values of one layer of one sequence, in pages: the one place that knows where in memory a position is, and as what.
 *
 * <p>A page holds positions that follow each other, keys as {@code [kvHead][headDim][position]}, values as
 * {@code [kvHead][position][headDim]}, so that both passes of attention read what is contiguous. Slices of sums over positions
 * do not cross the end of a page.
 */
public final class KvLayer {
    private static final int PAGE = AttentionShape.PAGE;

    private final KvType type;
    private final int headDim;
    private final List<KvArray> keys;
    private final List<KvArray> values;

    /** From where a page begins in its array to where the next does: 0 where each has an array of its own. */
    private final int stride;

    private KvLayer(KvType type, int headDim, List<KvArray> keys, List<KvArray> values, int stride) {
        this.type = type;
        this.headDim = headDim;
        this.keys = keys;
        this.values = values;
        this.stride = stride;
    }

    /** What a sequence has so far, in the order of its positions. */
    static KvLayer of(KvType type, AttentionShape shape, List<KvPage> pages, int layer) {
        return new KvLayer(
                type,
                shape.headDim(),
                pages.stream().map(page -> page.keys(layer)).toList(),
                pages.stream().map(page -> page.values(layer)).toList(),
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
                KvType.F32,
                shape.headDim(),
                Collections.nCopies(pages, new KvArray.Floats(keys)),
                Collections.nCopies(pages, new KvArray.Floats(values)),
                Math.multiplyExact(PAGE, shape.keyValueWidth()));
    }

    /** All keys of float32 caches in one piece: the array that {@link #contiguous} was given. */
    public float[] keys() {
        return ((KvArray.Floats) keys.getFirst()).elements();
    }

    /** As {@link #keys()}, all values. */
    public float[] values() {
        return ((KvArray.Floats) values.getFirst()).elements();
    }

    /** The first position behind the page that holds a position. */
    int pageEnd(int position) {
        return (position / PAGE + 1) * PAGE;
    }

    /** Where in the array of its page element {@code d} of a position's key is; that of the page's next position follows. */
    public int keyIndex(int kvHead, int d, int position) {
        return position / PAGE * stride + (kvHead * headDim + d) * PAGE + position % PAGE;
    }

    /** Where in the array of its page a position's value begins; that of the page's next position follows. */
    public int valueIndex(int kvHead, int position) {
        return position / PAGE * stride + (kvHead * PAGE + position % PAGE) * headDim;
    }

    /** Element {@code d} of a position's key. */
    public float key(int kvHead, int d, int position) {
        return keys.get(position / PAGE).get(type, keyIndex(kvHead, d, position));
    }

    /** Element {@code d} of a position's value. */
    public float value(int kvHead, int d, int position) {
        return values.get(position / PAGE).get(type, valueIndex(kvHead, position) + d);
    }

    /**
     * Stores element {@code d} of the keys of positions that follow each other in one page.
     *
     * @param from the element of position {@code first + i} is {@code from[offset + i * width]}
     */
    void setKeys(int kvHead, int d, int first, int count, float[] from, int offset, int width) {
        keys.get(first / PAGE).set(type, keyIndex(kvHead, d, first), count, from, offset, width);
    }

    /** Stores a position's value, {@code from[offset .. offset + headDim)}. */
    void setValue(int kvHead, int position, float[] from, int offset) {
        values.get(position / PAGE).set(type, valueIndex(kvHead, position), headDim, from, offset, 1);
    }

    /** Shows the keys of {@code count} positions of one page: a row for each of their elements, a column for each position. */
    void showKeys(int kvHead, int first, int count, KvRows rows) {
        rows.show(type, keys.get(first / PAGE), keyIndex(kvHead, 0, first), PAGE, headDim, count);
    }

    /** Shows the values of {@code count} positions of one page: a row for each position, and of that, some columns. */
    void showValues(int kvHead, int first, int count, int column, int columns, KvRows rows) {
        rows.show(type, values.get(first / PAGE), valueIndex(kvHead, first) + column, headDim, count, columns);
    }
}
