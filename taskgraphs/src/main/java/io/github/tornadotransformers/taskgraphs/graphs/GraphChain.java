package io.github.tornadotransformers.taskgraphs.graphs;

import java.util.List;
import java.util.stream.Stream;

/**
 * The graphs of a forward pass, in running order.
 *
 * @param stage whose activations they use
 * @param rows tokens that run at once, at most
 * @param before run once; they hold everything where a graph holds the whole pass
 * @param layers one after the other
 * @param head run once for every row whose logits are wanted
 * @param heads run for several such rows at once; empty where {@code head} alone is
 */
record GraphChain(
        Stage stage,
        int rows,
        List<DeviceGraph> before,
        List<LayerGraphs> layers,
        List<DeviceGraph> head,
        List<DeviceGraph> heads) {
    GraphChain {
        before = List.copyOf(before);
        layers = List.copyOf(layers);
        head = List.copyOf(head);
        heads = List.copyOf(heads);
    }

    DeviceGraph entry() {
        return before.getFirst();
    }

    /** Every graph once. */
    Stream<DeviceGraph> graphs() {
        Stream<DeviceGraph> ofLayers = layers.stream().flatMap(layer -> layer.graphs().stream());
        return Stream.of(before.stream(), ofLayers, head.stream(), heads.stream())
                .flatMap(all -> all)
                .distinct();
    }

    /** Says which graph may run after which, within this chain. */
    void link() {
        linkAll(before);
        List<DeviceGraph> last = before;
        for (LayerGraphs layer : layers) {
            linkAll(layer.graphs());
            link(last, layer.graphs());
            last = layer.graphs();
        }
        linkAll(head);
        link(last, head);
        linkAll(heads);
        link(last, heads);
    }

    /** Says that a head may run several times in a row. */
    void repeatHead() {
        link(head, head);
        link(heads, heads);
    }

    /**
     * Says that {@code next} may run after this chain.
     *
     * @param withoutHead whether it may do so when the head has not run
     */
    void precedes(DeviceGraph next, boolean withoutHead) {
        if (withoutHead || head.isEmpty()) {
            link(layers.isEmpty() ? before : layers.getLast().graphs(), List.of(next));
        }
        link(head, List.of(next));
        link(heads, List.of(next));
    }

    private static void linkAll(List<DeviceGraph> graphs) {
        for (int i = 1; i < graphs.size(); i++) {
            graphs.get(i - 1).precedes(graphs.get(i));
        }
    }

    private static void link(List<DeviceGraph> from, List<DeviceGraph> to) {
        if (!from.isEmpty() && !to.isEmpty()) {
            from.getLast().precedes(to.getFirst());
        }
    }
}
