package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.generation.TraceListener;

/**
 * A place in the forward pass where engines are compared.
 *
 * @param layer the block's index, or {@link TraceListener#NO_LAYER}
 * @param op the Op's name, or {@link #TOKEN}, {@link #TEXT_LOGITS}, {@link #TEXT_TOKEN}
 */
public record TracePoint(int layer, String op) {
    /** The token that greedy decoding chooses. */
    static final String TOKEN = "token";

    /** Logits of an engine that nothing traces. */
    static final String TEXT_LOGITS = "logits of a text";

    /** The token of a greedy text, which nothing traces. */
    static final String TEXT_TOKEN = "token of a text";

    @Override
    public String toString() {
        return layer == TraceListener.NO_LAYER ? op : "layer " + layer + " " + op;
    }
}
