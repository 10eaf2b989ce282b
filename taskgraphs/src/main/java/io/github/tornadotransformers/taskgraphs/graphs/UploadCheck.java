package io.github.tornadotransformers.taskgraphs.graphs;

import static io.github.tornadotransformers.taskgraphs.memory.Scalar.value;

import io.github.tornadotransformers.kernels.ChecksumKernels;
import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.memory.Argument;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.Checksums;
import io.github.tornadotransformers.taskgraphs.memory.ConstantKey;
import io.github.tornadotransformers.taskgraphs.memory.DeviceArrays;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import io.github.tornadotransformers.taskgraphs.memory.NamedKey;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import io.github.tornadotransformers.taskgraphs.memory.Scalar;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * Whether arrays that went to the device once are there as they were sent: a graph of their checksums, which runs once, after they are
 * there and before the host frees its own.
 */
final class UploadCheck {
    private static final long SUMS = (long) ChecksumKernels.ARRAYS * ChecksumKernels.LANES;

    /** A buffer of a device for which there are few checksums. */
    private static final long LEAST_BYTES = 16 << 20;

    private final List<Part> parts = new ArrayList<>();
    private final DeviceGraph graph;

    /** As many arrays as a kernel takes, and their checksums. */
    private record Part(List<PlannedArray<?>> arrays, PlannedArray<IntArray> sums) {}

    /** Not for a CPU, where a copy stays within the host's memory, nor where checksums would be a good part of what fits. */
    static boolean isFor(DeviceInfo device) {
        return device.kind() != DeviceInfo.Kind.CPU && device.maxAllocationBytes() >= LEAST_BYTES;
    }

    /** @param tables of words or of floats */
    UploadCheck(Collection<PlannedArray<?>> tables) {
        List<DeviceTask> tasks = new ArrayList<>();
        for (ElementType<?> type : List.of(ElementType.INT, ElementType.FLOAT)) {
            List<PlannedArray<?>> ofType = tables.stream()
                    .filter(table -> table.key().type().equals(type))
                    .collect(Collectors.toList());
            for (int first = 0; first < ofType.size(); first += ChecksumKernels.ARRAYS) {
                add(ofType.subList(first, Math.min(first + ChecksumKernels.ARRAYS, ofType.size())), type, tasks);
            }
        }
        graph = DeviceGraph.of("checksums", tasks, sums());
    }

    private void add(List<PlannedArray<?>> arrays, ElementType<?> type, List<DeviceTask> tasks) {
        NamedKey<IntArray> key = NamedKey.ints("checksums " + parts.size());
        PlannedArray<IntArray> sums = new PlannedArray<>(key, SUMS);
        TaskCall task = new TaskCall("checksums" + parts.size(), ChecksumKernels.LANES, tasks::add);
        parts.add(new Part(arrays, sums));
        if (type.equals(ElementType.INT)) {
            task.calls(
                    ChecksumKernels::words,
                    argument(arrays, 0, ElementType.INT),
                    argument(arrays, 1, ElementType.INT),
                    argument(arrays, 2, ElementType.INT),
                    argument(arrays, 3, ElementType.INT),
                    sums,
                    count(arrays, 0),
                    count(arrays, 1),
                    count(arrays, 2),
                    count(arrays, 3));
        } else {
            task.calls(
                    ChecksumKernels::floats,
                    argument(arrays, 0, ElementType.FLOAT),
                    argument(arrays, 1, ElementType.FLOAT),
                    argument(arrays, 2, ElementType.FLOAT),
                    argument(arrays, 3, ElementType.FLOAT),
                    new ConstantKey.Bounds(WeightFormat.BF16),
                    sums,
                    count(arrays, 0),
                    count(arrays, 1),
                    count(arrays, 2),
                    count(arrays, 3));
        }
    }

    private static <T extends TornadoNativeArray> Argument<T> argument(
            List<PlannedArray<?>> arrays, int index, ElementType<T> type) {
        if (index < arrays.size()) {
            return arrays.get(index).as(type).orElseThrow();
        }
        return new ConstantKey.Unread<>(type, "");
    }

    /** Of an array that has more than an int can count, which a memory plan refuses, as many as it can. */
    private static Scalar<Integer> count(List<PlannedArray<?>> arrays, int index) {
        return value(index < arrays.size() ? (int) Math.min(arrays.get(index).elements(), Integer.MAX_VALUE) : 0);
    }

    DeviceGraph graph() {
        return graph;
    }

    /** What the graph writes, for the host. */
    Set<ArrayKey<?>> sums() {
        return parts.stream().map(part -> part.sums().key()).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * To be asked when the graph has run, while the host has the arrays.
     *
     * @throws DeviceException if one is not on the device as it is here
     */
    void require(DeviceArrays arrays, DeviceInfo device) {
        for (Part part : parts) {
            IntArray found = arrays.get(part.sums().key());
            for (int index = 0; index < part.arrays().size(); index++) {
                ArrayKey<?> key = part.arrays().get(index).key();
                int[] expected = expected(arrays.get(key));
                int first = index * ChecksumKernels.LANES;
                long wrong = IntStream.range(0, expected.length)
                        .filter(lane -> found.get(first + lane) != expected[lane])
                        .count();
                if (wrong > 0) {
                    throw new DeviceException(key + " is on " + device + " otherwise than it was sent, by " + wrong
                            + " of "
                            + expected.length + " checksums: the copy failed, or the device's memory; try again, then"
                            + " another driver or device");
                }
            }
        }
    }

    private static int[] expected(TornadoNativeArray array) {
        MemorySegment elements = array.getSegment();
        return array instanceof FloatArray ? Checksums.ofFloats(elements) : Checksums.ofWords(elements);
    }
}
