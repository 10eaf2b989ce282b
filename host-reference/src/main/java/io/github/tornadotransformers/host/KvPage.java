package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.AttentionShape;
import java.util.Arrays;

/** The keys and values of {@link KvLayer#PAGE} positions in every layer, and how many caches hold it. */
final class KvPage {
    private final float[][] keys;
    private final float[][] values;
    private int holders;

    KvPage(AttentionShape shape, int layers) {
        int size = Math.multiplyExact(shape.keyValueWidth(), KvLayer.PAGE);
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

    void hold() {
        holders++;
    }

    /** @return whether nobody holds it any more */
    boolean letGo() {
        holders--;
        return holders == 0;
    }

    /** So that nobody ever reads what was not stored, or what another sequence has left: its logits would not be finite. */
    void poison() {
        for (int layer = 0; layer < keys.length; layer++) {
            Arrays.fill(keys[layer], Float.NaN);
            Arrays.fill(values[layer], Float.NaN);
        }
    }
}
