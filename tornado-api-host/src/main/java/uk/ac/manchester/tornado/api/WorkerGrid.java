package uk.ac.manchester.tornado.api;

/** How many work items run a task, and in groups of which size, along up to three dimensions. */
public interface WorkerGrid {

    /** The number of dimensions, 1 to 3. */
    int dimension();

    /** Work items along each dimension. */
    long[] getGlobalWork();

    /** Work items of a group along each dimension, or null where TornadoVM chooses. */
    long[] getLocalWork();

    void setGlobalWork(long x, long y, long z);

    void setLocalWork(long x, long y, long z);

    /** Lets TornadoVM choose the size of groups. */
    void setLocalWorkToNull();
}
