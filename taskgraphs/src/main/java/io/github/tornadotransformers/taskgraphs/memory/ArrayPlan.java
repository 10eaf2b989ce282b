package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.kernels.Slices;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray.Element;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** Arrays by name, sized before any is allocated, and whether a device has room for them. */
public final class ArrayPlan {
    private final DeviceInfo device;
    private final LayerGroups groups;
    private final Map<String, PlannedArray> arrays = new LinkedHashMap<>();

    public ArrayPlan(DeviceInfo device, LayerGroups groups) {
        this.device = device;
        this.groups = groups;
    }

    /** How many layers of a size fit an array. */
    public static long layersPerArray(DeviceInfo device, long layerSize, Element element) {
        long bytes = device.maxAllocationBytes() - 1 - TornadoNativeArray.ARRAY_HEADER;
        return Math.min(Integer.MAX_VALUE, bytes / element.bytes()) / layerSize;
    }

    public static boolean isStacked(Weight weight) {
        return weight.layers() > 1;
    }

    public LayerGroups groups() {
        return groups;
    }

    public void add(String name, Element element, long elements) {
        arrays.put(name, new PlannedArray(name, element, elements));
    }

    /** Floats of which there may be so many; the largest of several calls counts. */
    public void addLargest(String name, long elements) {
        PlannedArray known = arrays.get(name);
        if (known == null || known.elements() < elements) {
            add(name, Element.FLOAT, elements);
        }
    }

    /** An array for each group of layers, or a single one for what is not stacked. */
    public void addLayers(String name, Element element, long layerSize, boolean stacked) {
        if (stacked) {
            for (int group = 0; group < groups.count(); group++) {
                add(name + groups.suffix(group), element, Math.multiplyExact(layerSize, groups.layersOf(group)));
            }
        } else {
            add(name, element, layerSize);
        }
    }

    /** What an Op needs beside its output in tasks of its own. */
    public void addScratch(Stage stage, Op op, long rows) {
        switch (op) {
            case Op.LayerNorm norm -> {
                long sums = rows * Slices.count(norm.output().width());
                addLargest(stage.array(MemoryPlan.NORM_SUMS), sums);
                addLargest(stage.array(MemoryPlan.NORM_DEVIATIONS), sums);
            }
            case Op.RmsNorm norm ->
                addLargest(
                        stage.array(MemoryPlan.NORM_SUMS),
                        rows * Slices.count(norm.output().width()));
            case Op.Linear linear -> {
                long slices = rows * Slices.count(linear.weight().rows());
                addLargest(
                        stage.array(MemoryPlan.SUMS),
                        Math.multiplyExact(slices, linear.weight().columns()));
            }
            case Op.Rotary rotary ->
                addLargest(
                        rotary.name() + MemoryPlan.ANGLES, 2L * rotary.table().size());
            case Op.AttentionScores scores
            when rows == 1 ->
                addLargest(stage.array(MemoryPlan.RAW_SCORES), scores.shape().scoresWidth());
            case Op.Softmax softmax -> {
                long slices = rows
                        * softmax.shape().heads()
                        * Slices.count(softmax.shape().contextLength());
                addLargest(stage.array(MemoryPlan.MAXIMA), slices);
                addLargest(stage.array(MemoryPlan.EXPONENTIAL_SUMS), slices);
            }
            case Op.AttentionOutput attention -> {
                AttentionShape shape = attention.shape();
                long slices = rows * Slices.count(shape.contextLength());
                addLargest(stage.array(MemoryPlan.OUTPUT_SUMS), Math.multiplyExact(slices, shape.queryWidth()));
            }
            case Op.TokenEmbedding _,
                    Op.PositionEmbedding _,
                    Op.CacheAppend _,
                    Op.AttentionScores _,
                    Op.GatedMlp _,
                    Op.Scale _,
                    Op.SelectRows _ -> {}
        }
    }

    public Collection<PlannedArray> arrays() {
        return arrays.values();
    }

    public long bytes() {
        return arrays().stream().mapToLong(PlannedArray::bytes).reduce(0, Math::addExact);
    }

    public boolean fits() {
        return bytes() <= device.memoryBytes() && arrays().stream().allMatch(this::fits);
    }

    public boolean fits(PlannedArray array) {
        return array.elements() <= Integer.MAX_VALUE && array.bytes() < device.maxAllocationBytes();
    }

    /**
     * @param need a sentence's beginning, from how much memory all take
     * @param advice what would fit
     * @throws DeviceException if an array or all of them do not fit the device; says both figures and the advice
     */
    public void requireFits(UnaryOperator<String> need, Supplier<String> advice) {
        for (PlannedArray array : arrays()) {
            if (array.elements() > Integer.MAX_VALUE) {
                throw new DeviceException("%s has %d elements, but TornadoVM's arrays hold %d at most: %s"
                        .formatted(array.name(), array.elements(), Integer.MAX_VALUE, advice.get()));
            }
        }
        PlannedArray largest = arrays().stream()
                .max(Comparator.comparingLong(PlannedArray::bytes))
                .orElseThrow();
        if (!fits(largest)) {
            throw new DeviceException("%s needs a buffer of %s, but %s allows less than %s for one: %s"
                    .formatted(
                            largest.name(),
                            gigabytes(largest.bytes()),
                            device,
                            gigabytes(device.maxAllocationBytes()),
                            advice.get()));
        }
        if (bytes() > device.memoryBytes()) {
            throw new DeviceException("%s, but %s has %s: %s"
                    .formatted(need.apply(gigabytes(bytes())), device, gigabytes(device.memoryBytes()), advice.get()));
        }
    }

    private static String gigabytes(long bytes) {
        return String.format(Locale.ROOT, bytes < 100_000_000 ? "%.4f GB" : "%.2f GB", bytes / 1e9);
    }
}
