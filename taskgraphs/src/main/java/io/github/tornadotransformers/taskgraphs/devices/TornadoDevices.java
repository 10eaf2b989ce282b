package io.github.tornadotransformers.taskgraphs.devices;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import uk.ac.manchester.tornado.api.TornadoBackend;
import uk.ac.manchester.tornado.api.TornadoRuntime;
import uk.ac.manchester.tornado.api.TornadoTargetDevice;
import uk.ac.manchester.tornado.api.common.TornadoDevice;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;
import uk.ac.manchester.tornado.api.runtime.TornadoRuntimeProvider;

/**
 * The devices of this process. There are none where it was not started by TornadoVM's launcher; asking is safe where the
 * classes of TornadoVM are missing altogether.
 */
public final class TornadoDevices {
    private TornadoDevices() {}

    /**
     * Every device of every backend, in TornadoVM's order, the default first.
     *
     * @param math the mode that the process will run in: TornadoVM reads its settings when it is first asked for anything
     */
    public static List<DeviceInfo> list(MathMode math) {
        RuntimeSettings.install(math);
        try {
            return describeAll(TornadoRuntimeProvider.getTornadoRuntime());
        } catch (LinkageError | RuntimeException _) {
            return List.of();
        }
    }

    private static List<DeviceInfo> describeAll(TornadoRuntime runtime) {
        List<DeviceInfo> devices = new ArrayList<>();
        for (int backend = 0; backend < runtime.getNumBackends(); backend++) {
            TornadoBackend each = runtime.getBackend(backend);
            for (int index = 0; index < each.getNumDevices(); index++) {
                devices.add(describe(new DeviceId(backend, index), each.getDevice(index)));
            }
        }
        return devices;
    }

    /**
     * The device that is asked for, else the first fast one, else the first.
     *
     * @throws DeviceException if there is none, or none of that backend or number
     */
    public static DeviceInfo choose(Optional<Backend> backend, Optional<DeviceId> id, MathMode math) {
        List<DeviceInfo> all = list(math);
        if (all.isEmpty()) {
            throw new DeviceException(Wording.of(
                    "TornadoVM finds no device here: %s says what is missing; %s host needs none",
                    Term.TORNADO_HELP, Term.ENGINE));
        }
        List<DeviceInfo> matching = all.stream()
                .filter(device -> backend.isEmpty() || device.backend() == backend.get())
                .filter(device -> id.isEmpty() || device.id().equals(id.get()))
                .toList();
        if (matching.isEmpty()) {
            String wanted = id.map(DeviceId::toString).orElse("")
                    + backend.map(each -> " " + each).orElse("");
            throw new DeviceException("there is no device" + (id.isEmpty() ? "" : " ") + wanted + ", only " + all);
        }
        return matching.stream()
                .filter(device -> device.kind().isFast())
                .findFirst()
                .orElse(matching.getFirst());
    }

    /** TornadoVM's object for a device of {@link #list}. */
    public static TornadoDevice resolve(DeviceId id) {
        return TornadoRuntimeProvider.getTornadoRuntime()
                .getBackend(id.backend())
                .getDevice(id.index());
    }

    private static DeviceInfo describe(DeviceId id, TornadoDevice device) {
        TornadoTargetDevice physical = device.getPhysicalDevice();
        return new DeviceInfo(
                id,
                Backend.valueOf(device.getTornadoVMBackend().name()),
                kind(device.getDeviceType()),
                physical.getDeviceName().strip(),
                device.getPlatformName().strip(),
                device.getMaxGlobalMemory(),
                device.getMaxAllocMemory(),
                maxWorkGroupSize(physical),
                device.getDeviceContext().isFP64Supported(),
                String.valueOf(physical.getDeviceInfo())
                        .toLowerCase(Locale.ROOT)
                        .contains("cl_khr_fp16"));
    }

    /** OpenCL knows the threads of a group only after it was asked for the group's sizes, which PTX takes for a grid's. */
    private static int maxWorkGroupSize(TornadoTargetDevice device) {
        long[] sizes = device.getDeviceMaxWorkGroupSize();
        int threads = device.getMaxThreadsPerBlock();
        return threads > 0 ? threads : Math.toIntExact(sizes[0]);
    }

    private static DeviceInfo.Kind kind(TornadoDeviceType type) {
        return switch (type) {
            case CPU -> DeviceInfo.Kind.CPU;
            case GPU -> DeviceInfo.Kind.GPU;
            case ACCELERATOR, FPGA -> DeviceInfo.Kind.ACCELERATOR;
            default -> DeviceInfo.Kind.OTHER;
        };
    }
}
