package io.github.tornadotransformers.taskgraphs.probe;

import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import uk.ac.manchester.tornado.api.common.TornadoDevice;

/** Probes TornadoVM's first device, and prints a line for each finding, whatever the settings: strict mode refuses some. */
public final class UnfusedProbe {
    private static final int GROUP = 32;

    private UnfusedProbe() {}

    public static void main(String[] arguments) {
        DeviceId first = new DeviceId(0, 0);
        TornadoDevice device = TornadoDevices.resolve(first);
        DeviceInfo info = new DeviceInfo(
                first,
                Backend.valueOf(device.getTornadoVMBackend().name()),
                DeviceInfo.Kind.OTHER,
                "device",
                "platform",
                device.getMaxGlobalMemory(),
                device.getMaxAllocMemory(),
                GROUP,
                false,
                false);
        DeviceProbe.run(info).findings().forEach(finding -> System.out.println(finding.fault()));
    }
}
