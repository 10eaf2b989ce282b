package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.program.Op;

/** Sees what each Op of a forward pass has written. */
@FunctionalInterface
public interface TraceListener {
    /** What an engine calls when nobody listens. */
    TraceListener NONE = (layer, op, firstPosition, rows, output) -> {};

    /** The layer of an Op outside the block. */
    int NO_LAYER = -1;

    /**
     * @param layer the block's index, or {@link #NO_LAYER}
     * @param firstPosition position of the output's first row
     * @param output {@code [rows][op.output().width()]}, valid during the call; rows of scores hold only the positions up to
     *     their own
     */
    void opFinished(int layer, Op op, int firstPosition, int rows, float[] output);
}
