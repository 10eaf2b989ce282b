package uk.ac.manchester.tornado.api;

/** A device as its driver describes it; sizes are in bytes. */
public interface TornadoTargetDevice {

    String getDeviceName();

    long getDeviceGlobalMemorySize();

    long getDeviceLocalMemorySize();

    int getDeviceMaxComputeUnits();

    /** Work items of one group, at most, along each dimension. */
    long[] getDeviceMaxWorkItemSizes();

    /** Work items of one group, at most, in the first element; but PTX answers with the sizes of a grid here. */
    long[] getDeviceMaxWorkGroupSize();

    /** Work items of one group, at most; but OpenCL answers -1 until {@link #getDeviceMaxWorkGroupSize} was called. */
    int getMaxThreadsPerBlock();

    /** The largest buffer. */
    long getDeviceMaxAllocationSize();

    String getDeviceInfo();
}
