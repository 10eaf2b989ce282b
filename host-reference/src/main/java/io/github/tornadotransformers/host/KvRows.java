package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.KvType;

/** A rectangle of keys or values as float32: where it lies, or widened in memory of its own. For one thread, again and again. */
final class KvRows {
    private float[] widened = {};
    private float[] elements = widened;
    private int first;
    private int stride;

    /** Element {@code [r][c]} is at {@code first + r * stride + c}. */
    float[] elements() {
        return elements;
    }

    int first() {
        return first;
    }

    int stride() {
        return stride;
    }

    void show(KvType type, KvArray array, int from, int step, int rows, int columns) {
        switch (array) {
            case KvArray.Floats floats -> {
                elements = floats.elements();
                first = from;
                stride = step;
            }
            case KvArray.Halves halves -> {
                if (widened.length < rows * columns) {
                    widened = new float[rows * columns];
                }
                elements = widened;
                first = 0;
                stride = columns;
                for (int r = 0; r < rows; r++) {
                    WidenedRows.widen(type, halves.elements(), from + r * step, columns, widened, r * columns);
                }
            }
        }
    }
}
