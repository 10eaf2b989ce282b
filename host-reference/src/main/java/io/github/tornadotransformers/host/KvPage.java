package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.AttentionShape;
import java.util.Arrays;

/** The keys and values of {@link AttentionShape#PAGE} positions in every layer. */
final class KvPage {
    private final float[][] keys;
    private final float[][] values;

    KvPage(AttentionShape shape, int layers) {
        int size = Math.multiplyExact(shape.keyValueWidth(), AttentionShape.PAGE);
        keys = new float[layers][size];
        values = new float[layers][size];
        poison();
    }

    float[] keys(int layer) {
        return keys[layer];
    }

    float[] values(int layer) {
        return values[layer];
    }

    void copy(KvPage from) {
        for (int layer = 0; layer < keys.length; layer++) {
            System.arraycopy(from.keys[layer], 0, keys[layer], 0, keys[layer].length);
            System.arraycopy(from.values[layer], 0, values[layer], 0, values[layer].length);
        }
    }

    /** So that nobody ever reads what was not stored, or what another sequence has left: its logits would not be finite. */
    void poison() {
        for (int layer = 0; layer < keys.length; layer++) {
            Arrays.fill(keys[layer], Float.NaN);
            Arrays.fill(values[layer], Float.NaN);
        }
    }
}
