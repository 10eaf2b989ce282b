package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer.Movement;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides how each graph comes by its arrays. TornadoVM gives every graph memory of its own, and hands an array on only to the
 * graph that runs next, so that an array which several graphs share is carried by all that run between them. Its owners never
 * consume it: the graph that uses it first, or those that write it anew. A graph must find an array in the same memory at each execution, as
 * what a driver replays has its address: what graphs that follow different ones take over has one owner.
 */
public final class Residency {
    private final List<DeviceGraph> graphs;

    /** @param graphs in an order in which they can first run */
    public Residency(List<DeviceGraph> graphs) {
        this.graphs = graphs;
    }

    /**
     * A table that the host has filled: the graph that uses it first brings it to the device, once. Where one that runs before
     * would have to carry it, as where only some kinds of layers use it, each graph that uses it has a copy of its own.
     */
    public void upload(ArrayKey<?> table) {
        List<DeviceGraph> users = users(table).toList();
        int first = graphs.indexOf(users.getFirst());
        boolean isCarriedBefore =
                carriers(table, Set.of(users.getFirst())).stream().anyMatch(graph -> graphs.indexOf(graph) < first);
        List<DeviceGraph> owners = isCarriedBefore ? users : List.of(users.getFirst());
        carry(table, Set.copyOf(owners));
        owners.forEach(owner -> owner.move(Movement.UPLOAD_ONCE, table, true));
    }

    /** An array whose contents graphs write and read over many executions. */
    public void keep(ArrayKey<?> array) {
        users(array).findFirst().ifPresent(owner -> {
            carry(array, Set.of(owner));
            if (!persists(owner, array)) {
                owner.move(Movement.PERSIST, array, true);
            }
        });
    }

    /** An array that some graphs write and those after them read. */
    void handOn(ArrayKey<?> array) {
        Set<DeviceGraph> owners =
                users(array).filter(graph -> graph.defines(array)).collect(Collectors.toSet());
        carry(array, owners);
        for (DeviceGraph graph : graphs) {
            boolean isOutput =
                    graph.traced().stream().anyMatch(output -> output.array().equals(array));
            if ((isOutput || owners.contains(graph)) && !persists(graph, array)) {
                graph.move(Movement.PERSIST, array, true);
            }
        }
    }

    /** An array that the host fills anew whenever one of {@code entries} runs, for it and those after it. */
    public void feed(ArrayKey<?> array, Set<DeviceGraph> entries) {
        carry(array, entries);
        entries.stream()
                .filter(entry -> entry.uses().contains(array))
                .forEach(entry -> entry.move(Movement.UPLOAD_ALWAYS, array, true));
    }

    private Stream<DeviceGraph> users(ArrayKey<?> array) {
        return graphs.stream().filter(graph -> graph.uses().contains(array));
    }

    private static boolean persists(DeviceGraph graph, ArrayKey<?> array) {
        return graph.transfers().stream()
                .anyMatch(transfer -> transfer.movement() == Movement.PERSIST
                        && transfer.array().equals(array));
    }

    /** Those that need an array of its owners, for themselves or for graphs that may run after them. */
    private Set<DeviceGraph> carriers(ArrayKey<?> array, Set<DeviceGraph> owners) {
        Set<DeviceGraph> needing = users(array).collect(Collectors.toSet());
        needing.removeAll(owners);
        boolean grew = true;
        while (grew) {
            grew = false;
            for (DeviceGraph graph : graphs) {
                if (!owners.contains(graph) && graph.successors().stream().anyMatch(needing::contains)) {
                    grew |= needing.add(graph);
                }
            }
        }
        return needing;
    }

    private void carry(ArrayKey<?> array, Set<DeviceGraph> owners) {
        Set<DeviceGraph> needing = carriers(array, owners);
        for (DeviceGraph graph : graphs) {
            if (needing.contains(graph)) {
                graph.move(Movement.CONSUME, array, !graph.defines(array) || mustLeaveInPlace(graph, owners, needing));
            }
            boolean handsOn = graph.successors().stream().anyMatch(next -> next != graph && needing.contains(next));
            boolean has = needing.contains(graph) || owners.contains(graph);
            if (has && handsOn) {
                graph.move(Movement.PERSIST, array, true);
            }
        }
    }

    /** Whether a graph takes the array over that may run after this one, or after an owner without this one between them. */
    private static boolean mustLeaveInPlace(DeviceGraph graph, Set<DeviceGraph> owners, Set<DeviceGraph> needing) {
        Set<DeviceGraph> others = new HashSet<>(needing);
        others.remove(graph);
        Set<DeviceGraph> after = followers(Set.of(graph), others);
        return followers(owners, others).stream().anyMatch(after::contains);
    }

    /** Which of {@code within} may run after one of {@code first}, with none but these between them. */
    private static Set<DeviceGraph> followers(Set<DeviceGraph> first, Set<DeviceGraph> within) {
        Set<DeviceGraph> found = new HashSet<>();
        Deque<DeviceGraph> open = new ArrayDeque<>(first);
        while (!open.isEmpty()) {
            for (DeviceGraph next : open.remove().successors()) {
                if (within.contains(next) && found.add(next)) {
                    open.add(next);
                }
            }
        }
        return found;
    }
}
