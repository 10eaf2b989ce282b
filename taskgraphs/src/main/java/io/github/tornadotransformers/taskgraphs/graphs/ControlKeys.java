package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.memory.NamedKey;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** What the host tells the graphs with each execution. */
public final class ControlKeys {
    /** The ids of the rows' tokens. */
    public static final NamedKey<IntArray> TOKENS = NamedKey.ints("tokens");

    /** What {@link io.github.tornadotransformers.kernels.Step} describes, for embedding and blocks. */
    public static final NamedKey<IntArray> STEP = NamedKey.ints("step");

    /** The same for the head. */
    public static final NamedKey<IntArray> HEAD_STEP = NamedKey.ints("head step");

    /** The index of the layer whose weights and cache are used, within its group. */
    public static final NamedKey<IntArray> LAYER = NamedKey.ints("layer");

    private ControlKeys() {}
}
