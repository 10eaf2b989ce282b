package io.github.tornadotransformers.taskgraphs.graphs;

import java.util.List;
import java.util.stream.Stream;

/**
 * The graphs of a forward pass, in running order.
 *
 * @param before run once; they hold everything where a graph holds the whole pass
 * @param blocks run once for each of their layers
 * @param head run once for every row whose logits are wanted
 */
record GraphChain(List<OpGraph> before, List<LayerGraphs> blocks, List<OpGraph> head) {
    GraphChain {
        before = List.copyOf(before);
        blocks = List.copyOf(blocks);
        head = List.copyOf(head);
    }

    StageGraph entry() {
        return before.getFirst().graph();
    }

    Stream<OpGraph> graphs() {
        Stream<OpGraph> inBlocks = blocks.stream().flatMap(block -> block.graphs().stream());
        return Stream.of(before.stream(), inBlocks, head.stream()).flatMap(all -> all);
    }

    /** Says which graph may run after which, within this chain. */
    void link() {
        linkAll(before);
        List<OpGraph> last = before;
        for (LayerGraphs block : blocks) {
            linkAll(block.graphs());
            link(last, block.graphs());
            if (block.layers() > 1) {
                link(block.graphs(), block.graphs());
            }
            last = block.graphs();
        }
        linkAll(head);
        link(last, head);
    }

    /** Says that the head may run several times in a row. */
    void repeatHead() {
        link(head, head);
    }

    /** Says that {@code next} may run after this chain, with or without its head. */
    void precedes(GraphChain next) {
        link(blocks.isEmpty() ? before : blocks.getLast().graphs(), next.before);
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
