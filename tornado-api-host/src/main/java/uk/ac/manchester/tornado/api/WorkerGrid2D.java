package uk.ac.manchester.tornado.api;

/** A {@link WorkerGrid} of 2 dimensions. */
public class WorkerGrid2D extends AbstractWorkerGrid {
    public static final int DIM = 2;

    public WorkerGrid2D(int x, int y) {
        super(x, y, 1);
    }

    @Override
    public int dimension() {
        return DIM;
    }
}
