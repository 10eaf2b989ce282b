package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.memory.NamedKey;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** What the host tells the graphs with each execution. */
public final class ControlKeys {
    /** The ids of the rows' tokens. */
    public static final NamedKey<IntArray> TOKENS = NamedKey.ints("tokens");

    /** The index of the layer whose weights and cache are used, within its group. */
    public static final NamedKey<IntArray> LAYER = NamedKey.ints("layer");

    /** The pages that {@link io.github.tornadotransformers.kernels.CacheKernels#copyPage} copies. */
    static final NamedKey<IntArray> COPY = NamedKey.ints("copied pages");

    private ControlKeys() {}

    /** Each row's largest logits and their indices, where the device looks for them. */
    static NamedKey<FloatArray> likeliest(Stage head) {
        return NamedKey.floats(head + " likeliest");
    }

    /** The index of the largest logit of each part. */
    static NamedKey<IntArray> likeliestOfParts(Stage head) {
        return NamedKey.ints(head + " likeliest of parts");
    }

    /** What {@link io.github.tornadotransformers.kernels.Step} describes, for a stage. */
    public static NamedKey<IntArray> step(Stage stage) {
        Stage of = stage == Stage.TRAINING_HEAD ? Stage.TRAINING : stage;
        return NamedKey.ints(of + " step");
    }
}
