package io.github.tornadotransformers.taskgraphs.devices;

/**
 * A device that TornadoVM reaches, as its driver describes it.
 *
 * @param maxAllocationBytes a buffer must be smaller
 * @param maxWorkGroupSize work items of one group, at most
 * @param fp64 whether kernels may compute in double; nothing here needs it
 * @param fp16 whether kernels may compute in half precision; nothing here needs it
 */
public record DeviceInfo(
        DeviceId id,
        Backend backend,
        Kind kind,
        String name,
        String platform,
        long memoryBytes,
        long maxAllocationBytes,
        int maxWorkGroupSize,
        boolean fp64,
        boolean fp16) {
    /** What a device is. */
    public enum Kind {
        CPU,
        GPU,
        ACCELERATOR,
        OTHER;

        /** Whether it is worth computing on: a CPU device is for checking. */
        public boolean isFast() {
            return this == GPU || this == ACCELERATOR;
        }
    }

    /**
     * Whether kernels are shaped for a GPU: by groups of items that share memory and wait for each other, many loads on their way at
     * once. On a CPU device loops are better: TornadoVM gives each core a part of them, and they compile in a fraction of the time.
     *
     * @param size work items of a group
     */
    public boolean worksInGroups(int size) {
        return kind != Kind.CPU && maxWorkGroupSize >= size;
    }

    /** For a message: what and where. */
    @Override
    public String toString() {
        return name + " (" + backend + " " + id + ")";
    }
}
