package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.program.AttentionShape;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;

/** The keys and values of {@link AttentionShape#PAGE} positions in every layer. */
final class KvPage {
    private final KvType type;
    private final List<KvArray> keys;
    private final List<KvArray> values;

    KvPage(KvType type, AttentionShape shape, int layers) {
        this.type = type;
        int size = Math.multiplyExact(shape.keyValueWidth(), AttentionShape.PAGE);
        keys = Stream.generate(() -> KvArray.of(type, size)).limit(layers).toList();
        values = Stream.generate(() -> KvArray.of(type, size)).limit(layers).toList();
        poison();
    }

    KvArray keys(int layer) {
        return keys.get(layer);
    }

    KvArray values(int layer) {
        return values.get(layer);
    }

    void copy(KvPage from) {
        for (int layer = 0; layer < keys.size(); layer++) {
            keys(layer).copy(from.keys(layer));
            values(layer).copy(from.values(layer));
        }
    }

    /** Copies all elements, little-endian, keys and values of one layer after the other, to or from memory of the page's bytes. */
    void move(MemorySegment bytes, boolean out) {
        long at = 0;
        for (int layer = 0; layer < keys.size(); layer++) {
            for (KvArray each : List.of(keys(layer), values(layer))) {
                at += each.move(bytes.asSlice(at), out);
            }
        }
    }

    /** So that nobody ever reads what was not stored, or what another sequence has left: its logits would not be finite. */
    void poison() {
        keys.forEach(each -> each.fill(type, Float.NaN));
        values.forEach(each -> each.fill(type, Float.NaN));
    }
}
