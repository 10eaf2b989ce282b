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

    /** A CPU with 4 GiB, a quarter of it for one buffer. Programs run loops on it, which are emulated faster than groups. */
    public static final DeviceLimits DEFAULT = new DeviceLimits(TornadoDeviceType.CPU, 4L << 30, 1L << 30, 1024, true);

    /** The same as a GPU. */
    public static final DeviceLimits GPU = new DeviceLimits(TornadoDeviceType.GPU, 4L << 30, 1L << 30, 1024, true);
}
