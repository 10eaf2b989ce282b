package uk.ac.manchester.tornado.api;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Work sizes of tasks, keyed {@code graph.task}. */
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
