package uk.ac.manchester.tornado.api;

import java.util.List;
import uk.ac.manchester.tornado.api.common.TornadoDevice;
import uk.ac.manchester.tornado.api.enums.TornadoVMBackendType;

/** One way to compile kernels, and the devices it reaches. */
public interface TornadoBackend {

    String getName();

    TornadoVMBackendType getBackendType();

    int getNumDevices();

    TornadoDevice getDevice(int index);

    List<TornadoDevice> getAllDevices();

    TornadoDevice getDefaultDevice();
}
