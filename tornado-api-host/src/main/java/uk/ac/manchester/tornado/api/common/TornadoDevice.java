package uk.ac.manchester.tornado.api.common;

import uk.ac.manchester.tornado.api.TornadoDeviceContext;
import uk.ac.manchester.tornado.api.TornadoTargetDevice;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;
import uk.ac.manchester.tornado.api.enums.TornadoVMBackendType;

/** A device that runs graphs; sizes are in bytes. */
public interface TornadoDevice {

    String getDeviceName();

    String getDescription();

    String getPlatformName();

    TornadoDeviceContext getDeviceContext();

    TornadoTargetDevice getPhysicalDevice();

    TornadoDeviceType getDeviceType();

    /** The largest buffer. */
    long getMaxAllocMemory();

    long getMaxGlobalMemory();

    long getDeviceLocalMemorySize();

    /** Work items of one group, at most, along each dimension. */
    long[] getDeviceMaxWorkgroupDimensions();

    /** The index of its backend. */
    int getBackendIndex();

    TornadoVMBackendType getTornadoVMBackend();
}
