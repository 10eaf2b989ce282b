package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * Decides how each graph comes by its arrays. TornadoVM gives every graph memory of its own, and hands an array on only to the
 * graph that runs next, so that an array which several graphs share is carried by all that run between them. Its owners never
 * consume it: the graph that uses it first, or those that write it anew.
 */
public final class Residency {
    private final List<StageGraph> graphs;

    /** @param graphs in an order in which they can first run */
    public Residency(List<StageGraph> graphs) {
        this.graphs = graphs;
    }

    /** A table that the host has filled: its owner brings it to the device, once. */
    public void upload(TornadoNativeArray table) {
        users(table).findFirst().ifPresent(owner -> {
            carry(table, Set.of(owner));
            owner.move(Movement.UPLOAD_ONCE, table, true);
        });
    }

    /** An array whose contents graphs write and read over many executions. */
    public void keep(TornadoNativeArray array) {
        users(array).findFirst().ifPresent(owner -> {
            carry(array, Set.of(owner));
            if (!persists(owner, array)) {
                owner.move(Movement.PERSIST, array, true);
            }
        });
    }

    /**
     * An array that some graphs write and those after them read.
     *
     * @param isTraced whether the host reads it too
     */
    public void handOn(TornadoNativeArray array, boolean isTraced) {
        Set<StageGraph> owners =
                users(array).filter(graph -> graph.defines(array)).collect(Collectors.toSet());
        carry(array, owners);
        for (StageGraph owner : owners) {
            if (!persists(owner, array)) {
                owner.move(Movement.PERSIST, array, isTraced);
            }
        }
    }

    /** An array that the host fills anew whenever one of {@code entries} runs, for it and those after it. */
    public void feed(TornadoNativeArray array, Set<StageGraph> entries) {
        carry(array, entries);
        entries.stream()
                .filter(entry -> entry.uses().contains(array))
                .forEach(entry -> entry.move(Movement.UPLOAD_ALWAYS, array, true));
    }

    private Stream<StageGraph> users(TornadoNativeArray array) {
        return graphs.stream().filter(graph -> graph.uses().contains(array));
    }

    private static boolean persists(StageGraph graph, TornadoNativeArray array) {
        return graph.transfers().stream()
                .anyMatch(transfer -> transfer.movement() == Movement.PERSIST && transfer.array() == array);
    }

    private void carry(TornadoNativeArray array, Set<StageGraph> owners) {
        Set<StageGraph> needing = users(array).collect(Collectors.toSet());
        needing.removeAll(owners);
        boolean grew = true;
        while (grew) {
            grew = false;
            for (StageGraph graph : graphs) {
                if (!owners.contains(graph) && graph.successors().stream().anyMatch(needing::contains)) {
                    grew |= needing.add(graph);
                }
            }
        }
        for (StageGraph graph : graphs) {
            if (needing.contains(graph)) {
                graph.move(Movement.CONSUME, array, !graph.defines(array));
            }
            boolean handsOn = graph.successors().stream().anyMatch(next -> next != graph && needing.contains(next));
            boolean has = needing.contains(graph) || owners.contains(graph);
            if (has && handsOn) {
                graph.move(Movement.PERSIST, array, true);
            }
        }
    }
}
