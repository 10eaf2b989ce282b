package io.github.tornadotransformers.taskgraphs.graphs;

import java.util.List;
import java.util.function.Consumer;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * A kernel with its arguments.
 *
 * @param id unique within its graph
 * @param items work items: how far the kernel's parallel loop runs
 * @param arguments how many the kernel takes
 * @param arrays those among the arguments, in order
 * @param adder adds the task to a graph
 */
public record DeviceTask(
        String id, long items, int arguments, List<TornadoNativeArray> arrays, Consumer<TaskGraph> adder) {
    public DeviceTask {
        arrays = List.copyOf(arrays);
    }
}
