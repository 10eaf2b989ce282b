package io.github.tornadotransformers.taskgraphs.graphs;

import java.util.List;

/**
 * What runs for one layer of a chain. Layers share graphs where their blocks are equal and their weights lie in the same arrays.
 *
 * @param layer counted from the model's first
 * @param index the same within its group, as {@link ControlKeys#LAYER} says
 */
record LayerGraphs(int layer, int index, List<DeviceGraph> graphs) {
    LayerGraphs {
        graphs = List.copyOf(graphs);
    }
}
