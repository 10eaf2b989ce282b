package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * Spans of several sequences, and a layer's keys and values of each, which can be laid out in pages or in one piece.
 *
 * @param keys of each sequence, as {@link KvLayer#contiguous} takes them, as are {@code values}
 */
record RandomBatch(AttentionShape shape, List<BatchRows.Span> spans, List<float[]> keys, List<float[]> values) {
    static RandomBatch of(AttentionShape shape, RandomData data) {
        List<BatchRows.Span> spans = new ArrayList<>();
        List<float[]> keys = new ArrayList<>();
        List<float[]> values = new ArrayList<>();
        int firstRow = 0;
        int count = data.coin() ? 1 : data.between(2, 5);
        for (int i = 0; i < count; i++) {
            int rows = data.coin() ? 1 : data.between(1, Math.min(17, shape.contextLength()));
            int firstPosition = data.between(0, shape.contextLength() - rows);
            spans.add(new BatchRows.Span(firstRow, rows, firstPosition, null));
            keys.add(data.wildFloats((int) shape.cacheLayerSize()));
            values.add(data.wildFloats((int) shape.cacheLayerSize()));
            firstRow += rows;
        }
        return new RandomBatch(shape, spans, keys, values);
    }

    int rows() {
        return BatchRows.of(spans).count();
    }

    /** With caches in one piece, which are this batch's arrays. */
    BatchRows contiguous() {
        return with(i -> KvLayer.contiguous(shape, keys.get(i), values.get(i)));
    }

    /** With copies of the caches in pages; NaN behind the context's end. */
    BatchRows paged() {
        return paged(KvType.F32);
    }

    /** As {@link #paged()}, rounded. */
    BatchRows paged(KvType type) {
        return with(i -> paged(type, KvLayer.contiguous(shape, keys.get(i), values.get(i))));
    }

    /** The same with what is in the caches rounded. */
    RandomBatch rounded(KvType type) {
        return new RandomBatch(
                shape,
                spans,
                keys.stream().map(each -> rounded(type, each)).toList(),
                values.stream().map(each -> rounded(type, each)).toList());
    }

    static float[] rounded(KvType type, float[] values) {
        float[] rounded = values.clone();
        for (int i = 0; i < rounded.length; i++) {
            rounded[i] = type.widen(type.narrow(values[i]));
        }
        return rounded;
    }

    private BatchRows with(IntFunction<KvLayer> caches) {
        List<BatchRows.Span> there = new ArrayList<>();
        for (BatchRows.Span span : spans) {
            KvLayer cache = caches.apply(there.size());
            there.add(new BatchRows.Span(span.firstRow(), span.rows(), span.firstPosition(), cache));
        }
        return BatchRows.of(there);
    }

    private KvLayer paged(KvType type, KvLayer whole) {
        List<KvPage> pages = Stream.generate(() -> new KvPage(type, shape, 1))
                .limit(AttentionShape.pages(shape.contextLength()))
                .toList();
        KvLayer layer = KvLayer.of(type, shape, pages, 0);
        copy(whole, layer);
        return layer;
    }

    /** The caches' elements, in an order that does not depend on how they are laid out. */
    List<float[]> elements(BatchRows rows) {
        List<float[]> all = new ArrayList<>();
        for (BatchRows.Span span : rows.spans()) {
            float[] ownKeys = new float[(int) shape.cacheLayerSize()];
            float[] ownValues = ownKeys.clone();
            copy(span.cache(), KvLayer.contiguous(shape, ownKeys, ownValues));
            all.add(ownKeys);
            all.add(ownValues);
        }
        return all;
    }

    private void copy(KvLayer from, KvLayer to) {
        for (int t = 0; t < shape.contextLength(); t++) {
            for (int head = 0; head < shape.kvHeads(); head++) {
                float[] value = new float[shape.headDim()];
                for (int d = 0; d < shape.headDim(); d++) {
                    to.setKeys(head, d, t, 1, new float[] {from.key(head, d, t)}, 0, 1);
                    value[d] = from.value(head, d, t);
                }
                to.setValue(head, t, value, 0);
            }
        }
    }
}
