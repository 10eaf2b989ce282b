package io.github.tornadotransformers.emulator;

import java.util.List;
import uk.ac.manchester.tornado.api.TornadoBackend;
import uk.ac.manchester.tornado.api.TornadoRuntime;
import uk.ac.manchester.tornado.api.common.TornadoDevice;
import uk.ac.manchester.tornado.api.enums.TornadoVMBackendType;
import uk.ac.manchester.tornado.api.exceptions.TornadoBackendNotFound;
import uk.ac.manchester.tornado.api.exceptions.TornadoDeviceNotFound;

/** The backends of the stand-in: none, or inside the emulator one, which holds the emulator's device. */
public final class EmulatedRuntime implements TornadoRuntime {
    private final List<TornadoBackend> backends;

    private EmulatedRuntime(List<TornadoBackend> backends) {
        this.backends = backends;
    }

    public static TornadoRuntime current() {
        return new EmulatedRuntime(
                Emulator.device().<TornadoBackend>map(Backend::new).stream().toList());
    }

    @Override
    public int getNumBackends() {
        return backends.size();
    }

    @Override
    public TornadoBackend getBackend(int index) {
        if (index < 0 || index >= backends.size()) {
            throw new TornadoBackendNotFound(
                    "there are %d backends, but none of index %d".formatted(backends.size(), index));
        }
        return backends.get(index);
    }

    @Override
    public TornadoVMBackendType getBackendType(int index) {
        return getBackend(index).getBackendType();
    }

    @Override
    public TornadoDevice getDefaultDevice() {
        return getBackend(0).getDefaultDevice();
    }

    private record Backend(EmulatedDevice device) implements TornadoBackend {

        @Override
        public String getName() {
            return EmulatedDevice.NAME;
        }

        @Override
        public TornadoVMBackendType getBackendType() {
            return device.getTornadoVMBackend();
        }

        @Override
        public int getNumDevices() {
            return 1;
        }

        @Override
        public TornadoDevice getDevice(int index) {
            if (index != 0) {
                throw new TornadoDeviceNotFound("the emulator has one device, but none of index " + index);
            }
            return device;
        }

        @Override
        public List<TornadoDevice> getAllDevices() {
            return List.of(device);
        }

        @Override
        public TornadoDevice getDefaultDevice() {
            return device;
        }
    }
}
