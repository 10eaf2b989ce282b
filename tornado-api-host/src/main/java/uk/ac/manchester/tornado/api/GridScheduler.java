package uk.ac.manchester.tornado.api;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Work sizes of tasks, keyed {@code graph.task}.
 *
 * <p>On a device a grid's global sizes <em>replace</em> the bounds of the task's {@code @Parallel} loops, the first dimension that of
 * the outermost loop: a smaller size leaves elements out, a larger one runs past the bound. The emulator refuses either.
 */
public class GridScheduler {
    private final Map<String, WorkerGrid> grids = new ConcurrentHashMap<>();

    public GridScheduler() {}

    public GridScheduler(String key, WorkerGrid grid) {
        addWorkerGrid(key, grid);
    }

    public final void addWorkerGrid(String key, WorkerGrid grid) {
        grids.put(key, grid);
    }

    /** The grid for that key, or null. */
    public WorkerGrid get(String key) {
        return grids.get(key);
    }

    public boolean contains(String graph, String task) {
        return grids.containsKey(graph + "." + task);
    }

    public Set<String> keySet() {
        return grids.keySet();
    }
}
