package io.github.tornadotransformers.taskgraphs;

import java.util.List;
import java.util.stream.Stream;

/**
 * The graphs of a forward pass, in running order.
 *
 * @param before run once; they hold everything where a graph holds the whole pass
 * @param perLayer run once for every layer
 * @param head run once for every row whose logits are wanted
 */
record GraphChain(List<OpGraph> before, List<OpGraph> perLayer, List<OpGraph> head) {
    GraphChain {
        before = List.copyOf(before);
        perLayer = List.copyOf(perLayer);
        head = List.copyOf(head);
    }

    StageGraph entry() {
        return before.getFirst().graph();
    }

    Stream<OpGraph> graphs() {
        return Stream.of(before, perLayer, head).flatMap(List::stream);
    }

    /** Says which graph may run after which, within this chain. */
    void link() {
        linkAll(before);
        linkAll(perLayer);
        linkAll(head);
        if (!perLayer.isEmpty()) {
            link(before, perLayer);
            link(perLayer, perLayer);
            link(perLayer, head);
        }
    }

    /** Says that the head may run several times in a row. */
    void repeatHead() {
        link(head, head);
    }

    /** Says that {@code next} may run after this chain, with or without its head. */
    void precedes(GraphChain next) {
        link(perLayer.isEmpty() ? before : perLayer, next.before);
        if (!head.isEmpty()) {
            link(head, next.before);
        }
    }

    private static void linkAll(List<OpGraph> graphs) {
        for (int i = 1; i < graphs.size(); i++) {
            graphs.get(i - 1).graph().precedes(graphs.get(i).graph());
        }
    }

    private static void link(List<OpGraph> from, List<OpGraph> to) {
        if (!to.isEmpty()) {
            from.getLast().graph().precedes(to.getFirst().graph());
        }
    }
}
