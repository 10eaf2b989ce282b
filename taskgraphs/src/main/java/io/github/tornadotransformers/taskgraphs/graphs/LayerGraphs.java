package io.github.tornadotransformers.taskgraphs.graphs;

import java.util.List;

/**
 * The graphs of a block, for a group of layers.
 *
 * @param graphs run once for each of {@code layers} layers, from {@code firstLayer} on
 */
record LayerGraphs(int firstLayer, int layers, List<OpGraph> graphs) {
    LayerGraphs {
        graphs = List.copyOf(graphs);
    }
}
