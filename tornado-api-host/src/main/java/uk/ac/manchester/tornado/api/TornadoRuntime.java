package uk.ac.manchester.tornado.api;

import uk.ac.manchester.tornado.api.common.TornadoDevice;
import uk.ac.manchester.tornado.api.enums.TornadoVMBackendType;

/** The backends of this process. */
public interface TornadoRuntime {

    /** The number of backends; the stand-in has none, except inside the emulator, where it has one. */
    int getNumBackends();

    TornadoBackend getBackend(int index);

    TornadoVMBackendType getBackendType(int index);

    TornadoDevice getDefaultDevice();
}
