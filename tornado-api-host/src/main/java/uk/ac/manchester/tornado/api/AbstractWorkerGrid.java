package uk.ac.manchester.tornado.api;

/** Holds the sizes of a {@link WorkerGrid}. */
public abstract class AbstractWorkerGrid implements WorkerGrid {
    private long[] globalSizes;
    private long[] localSizes;

    protected AbstractWorkerGrid(long x, long y, long z) {
        setGlobalWork(x, y, z);
    }

    @Override
    public long[] getGlobalWork() {
        return globalSizes;
    }

    @Override
    public long[] getLocalWork() {
        return localSizes;
    }

    @Override
    public final void setGlobalWork(long x, long y, long z) {
        globalSizes = new long[] {x, y, z};
    }

    @Override
    public void setLocalWork(long x, long y, long z) {
        localSizes = new long[] {x, y, z};
    }

    @Override
    public void setLocalWorkToNull() {
        localSizes = null;
    }
}
