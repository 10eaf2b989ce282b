package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.EmulatedDevice;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/** A task has as many items as its kernel's loop is long: fewer would leave some out, more would be started for nothing. */
public final class TaskItems {
    private final Set<DeviceGraph> graphs = new LinkedHashSet<>();

    /** Makes every transfer, and takes down the graphs. */
    public BiPredicate<DeviceGraph, DeviceTransfer> seen() {
        return (graph, _) -> {
            graphs.add(graph);
            return true;
        };
    }

    /** Compares the tasks that ran with the loops that the device saw. */
    public void requireLoops(EmulatedDevice device) {
        Map<String, Integer> loops = new TreeMap<>(device.loops());
        Map<String, Integer> items = new TreeMap<>();
        for (DeviceGraph graph : graphs) {
            for (DeviceTask task : graph.tasks()) {
                if (loops.containsKey(graph.key(task))) {
                    items.put(graph.key(task), Math.toIntExact(task.items()));
                }
            }
        }
        assertThat(items).hasSizeGreaterThan(10).isEqualTo(loops);
    }
}
