package io.github.tornadotransformers.emulator;

import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;

/**
 * What an emulated device says of itself.
 *
 * @param memoryBytes all buffers together, at most
 * @param maxAllocationBytes one buffer, less than this
 * @param maxWorkGroupSize work items of one group, at most
 */
public record DeviceLimits(
        TornadoDeviceType type, long memoryBytes, long maxAllocationBytes, int maxWorkGroupSize, boolean fp64) {

    /** A GPU with 4 GiB, a quarter of it for one buffer. */
    public static final DeviceLimits DEFAULT = new DeviceLimits(TornadoDeviceType.GPU, 4L << 30, 1L << 30, 1024, true);
}
