package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** All arrays that tasks work on, before any is allocated, and whether a device has room for them. */
public final class MemoryPlan {
    private final DeviceInfo device;
    private final Map<ArrayKey<?>, PlannedArray<?>> arrays = new LinkedHashMap<>();

    /** @param wanted as often as tasks want them; the largest of equal keys counts */
    public MemoryPlan(DeviceInfo device, Stream<PlannedArray<?>> wanted) {
        this.device = device;
        wanted.forEach(array ->
                arrays.merge(array.key(), array, (known, each) -> known.elements() < each.elements() ? each : known));
    }

    public Collection<PlannedArray<?>> arrays() {
        return arrays.values();
    }

    public long bytes() {
        return arrays().stream().mapToLong(PlannedArray::bytes).reduce(0, Math::addExact);
    }

    public boolean fits() {
        return bytes() <= device.memoryBytes() && arrays().stream().allMatch(this::fits);
    }

    public boolean fits(PlannedArray<?> array) {
        return array.elements() <= Integer.MAX_VALUE && array.bytes() < device.maxAllocationBytes();
    }

    /**
     * @param need a sentence's beginning, from how much memory all take
     * @param advice what would fit
     * @throws DeviceException if an array or all of them do not fit the device; says both figures and the advice
     */
    public void requireFits(UnaryOperator<String> need, Supplier<Wording> advice) {
        for (PlannedArray<?> array : arrays()) {
            if (array.elements() > Integer.MAX_VALUE) {
                throw new DeviceException(Wording.of(
                        "%s has %d elements, but TornadoVM's arrays hold %d at most: %s",
                        array.key(), array.elements(), Integer.MAX_VALUE, advice.get()));
            }
        }
        PlannedArray<?> largest = arrays().stream()
                .max(Comparator.comparingLong(PlannedArray::bytes))
                .orElseThrow();
        if (!fits(largest)) {
            throw new DeviceException(Wording.of(
                    "%s needs a buffer of %s, but %s allows less than %s for one: %s",
                    largest.key(),
                    gigabytes(largest.bytes()),
                    device,
                    gigabytes(device.maxAllocationBytes()),
                    advice.get()));
        }
        if (bytes() > device.memoryBytes()) {
            throw new DeviceException(Wording.of(
                    "%s, but %s has %s: %s",
                    need.apply(gigabytes(bytes())), device, gigabytes(device.memoryBytes()), advice.get()));
        }
    }

    private static String gigabytes(long bytes) {
        return String.format(Locale.ROOT, bytes < 100_000_000 ? "%.4f GB" : "%.2f GB", bytes / 1e9);
    }
}
