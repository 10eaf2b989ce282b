package uk.ac.manchester.tornado.api;

/** What a device is able to do. */
public interface TornadoDeviceContext {

    /** Whether kernels may compute in double. */
    boolean isFP64Supported();

    /** The device's index within its backend. */
    int getDeviceIndex();
}
