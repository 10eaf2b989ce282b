package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.memory.NamedKey;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** What the host tells the graphs with each execution. */
public final class ControlKeys {
    /** The ids of the rows' tokens. */
    public static final NamedKey<IntArray> TOKENS = NamedKey.ints("tokens");

    /** The index of the layer whose weights and cache are used, within its group. */
    public static final NamedKey<IntArray> LAYER = NamedKey.ints("layer");

    /** The pages that {@link io.github.tornadotransformers.kernels.CacheKernels#copyPage} copies. */
    static final NamedKey<IntArray> COPY = NamedKey.ints("copied pages");

    /** The index of the largest logit, where the device looks for it. */
    static final NamedKey<IntArray> LIKELIEST = NamedKey.ints("likeliest");

    /** What is known of the parts of the logits. */
    static final NamedKey<IntArray> LIKELIEST_OF_PARTS = NamedKey.ints("likeliest of parts");

    private ControlKeys() {}

    /** What {@link io.github.tornadotransformers.kernels.Step} describes, for a stage. */
    public static NamedKey<IntArray> step(Stage stage) {
        Stage of = stage == Stage.TRAINING_HEAD ? Stage.TRAINING : stage;
        return NamedKey.ints(of + " step");
    }
}
