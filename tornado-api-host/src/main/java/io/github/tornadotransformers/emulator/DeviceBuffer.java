package io.github.tornadotransformers.emulator;

import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** One array's memory on the device; several graphs share it after a hand-over. */
final class DeviceBuffer {
    private final EmulatedDevice device;
    private final TornadoNativeArray host;
    private final TornadoNativeArray memory;
    private boolean defined;
    private boolean freed;

    /** Takes memory for {@code host} from {@code device}; it holds poison. */
    DeviceBuffer(EmulatedDevice device, TornadoNativeArray host) {
        this.device = device;
        this.host = host;
        device.add(this);
        this.memory = Poison.like(host);
    }

    @SuppressWarnings("ReferenceEquality") // the array itself
    boolean isOf(TornadoNativeArray array) {
        return host == array;
    }

    TornadoNativeArray memory() {
        return memory;
    }

    long bytes() {
        return host.getNumBytesOfSegmentWithHeader();
    }

    /** Whether a transfer or a task ever wrote to it. */
    boolean isDefined() {
        if (!defined) {
            defined = !Poison.isUntouched(memory);
        }
        return defined;
    }

    boolean isFreed() {
        return freed;
    }

    void write(TornadoNativeArray host) {
        memory.getSegment().copyFrom(host.getSegment());
        device.arrived(host, memory);
        defined = true;
    }

    void read(TornadoNativeArray host) {
        host.getSegment().copyFrom(memory.getSegment());
        device.countToHost(memory.getNumBytesOfSegment());
    }

    void free() {
        if (!freed) {
            freed = true;
            device.remove(this);
        }
    }
}
