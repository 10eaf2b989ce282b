package io.github.tornadotransformers.emulator;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BiConsumer;
import uk.ac.manchester.tornado.api.TornadoDeviceContext;
import uk.ac.manchester.tornado.api.TornadoTargetDevice;
import uk.ac.manchester.tornado.api.WorkerGrid;
import uk.ac.manchester.tornado.api.common.TornadoDevice;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;
import uk.ac.manchester.tornado.api.enums.TornadoVMBackendType;
import uk.ac.manchester.tornado.api.exceptions.TornadoOutOfMemoryException;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** The emulator's device: it counts memory, transfers and tasks, and is named {@link #NAME} so that nobody takes it for hardware. */
public final class EmulatedDevice implements TornadoDevice, TornadoTargetDevice, TornadoDeviceContext {
    public static final String NAME = "emulator (no device)";

    private static final long LOCAL_MEMORY_BYTES = 48L << 10;

    private final DeviceLimits limits;
    private final Map<String, Integer> loops = new HashMap<>();
    private final Set<DeviceBuffer> buffers = new HashSet<>();
    private long usedBytes;
    private long bytesToDevice;
    private long bytesToHost;
    private long tasksRun;
    private boolean refusesReplays;
    private boolean replays;
    private BiConsumer<TornadoNativeArray, TornadoNativeArray> copyFault = (_, _) -> {};

    public EmulatedDevice() {
        this(DeviceLimits.DEFAULT);
    }

    public EmulatedDevice(DeviceLimits limits) {
        this.limits = limits;
    }

    /** From now on copies to the device are followed by what a fault does: it gets the host's array and what has arrived of it. */
    public void breakCopies(BiConsumer<TornadoNativeArray, TornadoNativeArray> fault) {
        copyFault = fault;
    }

    /** From now on a graph that is to be replayed fails when it is first executed, after it has taken its memory. */
    public void refuseReplays() {
        refusesReplays = true;
    }

    boolean refusesReplays() {
        return refusesReplays;
    }

    void executed(boolean toBeReplayed) {
        replays = toBeReplayed;
    }

    /** Whether the graph that was executed last was to be replayed. */
    public boolean replays() {
        return replays;
    }

    void arrived(TornadoNativeArray host, TornadoNativeArray memory) {
        countToDevice(memory.getNumBytesOfSegment());
        copyFault.accept(host, memory);
    }

    /** Bytes that graphs hold on this device now. */
    public long usedBytes() {
        return usedBytes;
    }

    /** Bytes copied from the host so far, without headers. */
    public long bytesToDevice() {
        return bytesToDevice;
    }

    /** Bytes copied to the host so far, without headers. */
    public long bytesToHost() {
        return bytesToHost;
    }

    public long tasksRun() {
        return tasksRun;
    }

    /**
     * Makes elements {@code [first, first + count)} of every copy of {@code array} on this device what they were before anything
     * was written to them.
     */
    public void poison(TornadoNativeArray array, int first, int count) {
        buffers.stream()
                .filter(buffer -> buffer.isOf(array))
                .forEach(buffer -> Poison.fill(buffer.memory(), first, count));
    }

    void add(DeviceBuffer buffer) {
        allocate(buffer.bytes());
        buffers.add(buffer);
    }

    void remove(DeviceBuffer buffer) {
        usedBytes -= buffer.bytes();
        buffers.remove(buffer);
    }

    private void allocate(long bytes) {
        if (bytes >= limits.maxAllocationBytes() || bytes > limits.memoryBytes() - usedBytes) {
            throw new TornadoOutOfMemoryException(
                    "cannot allocate %d bytes: %d of %d are used, and one buffer must be smaller than %d"
                            .formatted(bytes, usedBytes, limits.memoryBytes(), limits.maxAllocationBytes()));
        }
        usedBytes += bytes;
    }

    void countToDevice(long bytes) {
        bytesToDevice += bytes;
    }

    void countToHost(long bytes) {
        bytesToHost += bytes;
    }

    void countTasks(int tasks) {
        tasksRun += tasks;
    }

    /** Refuses a grid whose sizes are not positive, do not divide, or are too large for this device. */
    void requireFits(String key, WorkerGrid grid) {
        long[] global = grid.getGlobalWork();
        long[] local = grid.getLocalWork();
        long groupSize = 1;
        for (int i = 0; i < global.length; i++) {
            if (global[i] <= 0) {
                throw new EmulatorException("%s: %d work items along dimension %d; there must be one at least"
                        .formatted(key, global[i], i));
            }
            if (local != null) {
                if (local[i] <= 0 || global[i] % local[i] != 0) {
                    throw new EmulatorException("%s: groups of %d do not divide %d work items along dimension %d"
                            .formatted(key, local[i], global[i], i));
                }
                groupSize *= local[i];
            }
        }
        if (groupSize > limits.maxWorkGroupSize()) {
            throw new EmulatorException("%s: groups of %d work items, but the device allows %d"
                    .formatted(key, groupSize, limits.maxWorkGroupSize()));
        }
    }

    /**
     * Refuses a grid that leaves items of a task out, or has more than one group of items too many, and takes down how far the task's
     * loop runs.
     *
     * @param grid null where TornadoVM chooses
     * @param items of the parallel loop, empty where there is none
     */
    void requireCovers(String key, WorkerGrid grid, OptionalInt items) {
        items.ifPresent(count -> loops.put(key, count));
        if (grid == null) {
            return;
        }
        long size = product(grid.getGlobalWork());
        long group = grid.getLocalWork() == null ? 1 : product(grid.getLocalWork());
        int wanted = items.orElseThrow(
                () -> new EmulatorException("%s: a grid of %d work items, but no parallel loop".formatted(key, size)));
        if (size < wanted || size >= Math.max(wanted, 1) + group) {
            throw new EmulatorException(
                    "%s: a grid of %d work items in groups of %d for a loop of %d".formatted(key, size, group, wanted));
        }
    }

    private static long product(long[] sizes) {
        return Arrays.stream(sizes).reduce(1, (a, b) -> a * b);
    }

    /** How far the parallel loop of each task ran last, by {@code graph.task}. */
    public Map<String, Integer> loops() {
        return Collections.unmodifiableMap(loops);
    }

    @Override
    public String getDeviceName() {
        return NAME;
    }

    @Override
    public String getDescription() {
        return NAME;
    }

    @Override
    public String getPlatformName() {
        return NAME;
    }

    @Override
    public String getDeviceInfo() {
        return NAME;
    }

    @Override
    public String toString() {
        return NAME;
    }

    @Override
    public TornadoDeviceContext getDeviceContext() {
        return this;
    }

    @Override
    public TornadoTargetDevice getPhysicalDevice() {
        return this;
    }

    @Override
    public TornadoDeviceType getDeviceType() {
        return limits.type();
    }

    @Override
    public TornadoVMBackendType getTornadoVMBackend() {
        return TornadoVMBackendType.VIRTUAL;
    }

    @Override
    public boolean isFP64Supported() {
        return limits.fp64();
    }

    @Override
    public int getDeviceIndex() {
        return 0;
    }

    @Override
    public int getBackendIndex() {
        return 0;
    }

    @Override
    public int getDeviceMaxComputeUnits() {
        return 1;
    }

    @Override
    public long getMaxAllocMemory() {
        return limits.maxAllocationBytes();
    }

    @Override
    public long getDeviceMaxAllocationSize() {
        return limits.maxAllocationBytes();
    }

    @Override
    public long getMaxGlobalMemory() {
        return limits.memoryBytes();
    }

    @Override
    public long getDeviceGlobalMemorySize() {
        return limits.memoryBytes();
    }

    @Override
    public long getDeviceLocalMemorySize() {
        return LOCAL_MEMORY_BYTES;
    }

    @Override
    public long[] getDeviceMaxWorkItemSizes() {
        long size = limits.maxWorkGroupSize();
        return new long[] {size, size, size};
    }

    @Override
    public long[] getDeviceMaxWorkgroupDimensions() {
        return getDeviceMaxWorkItemSizes();
    }

    @Override
    public long[] getDeviceMaxWorkGroupSize() {
        return new long[] {limits.maxWorkGroupSize()};
    }

    @Override
    public int getMaxThreadsPerBlock() {
        return limits.maxWorkGroupSize();
    }
}
