package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.ConstantKey;
import io.github.tornadotransformers.taskgraphs.memory.LayerGroups;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/**
 * The layer that tasks work on.
 *
 * @param group whose arrays hold its weights and cache
 * @param layer the layer, or one of those whose weights are kept alike, counted from the model's first
 * @param index holds its index within the group
 * @param prefix before the names of tasks, to tell layers apart where a graph holds several
 */
public record LayerScope(int group, int layer, Argument<IntArray> index, String prefix) {
    /** Holds 0. */
    static final Argument<IntArray> FIRST = new ConstantKey.Layer(0);

    /** What no layer has: embedding and head. */
    public static LayerScope none() {
        return new LayerScope(0, 0, FIRST, "");
    }

    /** Each layer of a group that is kept like this one in turn, as {@link ControlKeys#LAYER} says. */
    public static LayerScope each(int layer, LayerGroups groups) {
        return new LayerScope(groups.of(layer), layer, new PlannedArray<>(ControlKeys.LAYER, 1), "");
    }

    /** A layer, always. */
    static LayerScope only(int layer, LayerGroups groups) {
        return new LayerScope(
                groups.of(layer), layer, new ConstantKey.Layer(groups.indexOf(layer)), "layer" + layer + "_");
    }
}
