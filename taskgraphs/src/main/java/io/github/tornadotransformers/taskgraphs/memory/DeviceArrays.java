package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.checkpoint.StoredColumns;
import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * The host's side of every array on the device. Weights and tables are filled here, copied to the device once, and freed here;
 * most others only name the device's memory. Each lies on pages of its own, see {@link OwnPages}.
 */
public final class DeviceArrays implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Arena weightArena = Arena.ofShared();
    private final Map<ArrayKey<?>, TornadoNativeArray> arrays = new HashMap<>();

    /** The arrays of weights and of their scales, by the name that they are loaded by: one for each group of layers. */
    private final Map<String, List<WeightKey<?>>> weights = new LinkedHashMap<>();

    /** Allocates what the plan says, whose sizes are known to fit, and fills what is known beforehand. */
    public DeviceArrays(MemoryPlan plan) {
        for (PlannedArray<?> planned : plan.arrays()) {
            switch (planned.key()) {
                case WeightKey<?> weight -> {
                    allocate(planned, weightArena);
                    weights.computeIfAbsent(name(weight.weight(), weight.part()), _ -> new ArrayList<>())
                            .add(weight);
                }
                case RotaryKey rotary -> {
                    allocate(planned, arena);
                    rotary.fill(get(rotary));
                }
                default -> allocate(planned, arena);
            }
        }
        weights.values()
                .forEach(parts ->
                        parts.sort(Comparator.comparingInt(part -> part.layers().first())));
    }

    private static String name(Weight weight, WeightKey.Part part) {
        return switch (part) {
            case ELEMENTS -> weight.name();
            case SCALES -> WeightAllocator.scalesOf(weight);
        };
    }

    private void allocate(PlannedArray<?> planned, Arena from) {
        arrays.put(planned.key(), OwnPages.allocate(planned, from));
    }

    /** Hands out the memory of the weights' arrays. */
    private final class InPlace implements WeightAllocator {
        /** By name, how many bytes were handed out one behind the other. */
        private final Map<String, Long> used = new HashMap<>();

        @Override
        public MemorySegment allocate(String name, long bytes) {
            long from = used.merge(name, bytes, Math::addExact) - bytes;
            for (WeightKey<?> key : weights.getOrDefault(name, List.of())) {
                MemorySegment array = get(key).getSegment();
                if (from < array.byteSize()) {
                    return array.asSlice(from, bytes);
                }
                from -= array.byteSize();
            }
            throw new IllegalArgumentException("no memory is planned for " + bytes + " bytes more of " + name);
        }

        @Override
        public List<MemorySegment> allocateLayers(String name, int layers, long layerBytes) {
            return elements(name, layerBytes);
        }
    }

    /** Without what fills the last word of each array. */
    private List<MemorySegment> elements(String name, long layerBytes) {
        return weights.getOrDefault(name, List.of()).stream()
                .map(key -> get(key).getSegment().asSlice(0, key.layers().count() * layerBytes))
                .toList();
    }

    /** Fills the weights. Those that the source did not write in place are copied. */
    public void load(WeightSource source) {
        Weights loaded = source.load(new InPlace());
        SequencedSet<Weight> all = new LinkedHashSet<>();
        weights.values().forEach(parts -> all.add(parts.getFirst().weight()));
        for (Weight weight : all) {
            if (loaded.isStored(weight)) {
                requireInPlace(weight, loaded);
                continue;
            }
            WeightData data = loaded.get(weight);
            if (data.layout() != WeightLayout.ROW_MAJOR) {
                throw new IllegalArgumentException(
                        "weight " + weight.name() + " lies in " + data.layout() + ", a device wants ROW_MAJOR");
            }
            WeightData own = new WeightData(
                    weight,
                    data.dtype(),
                    WeightLayout.ROW_MAJOR,
                    elements(
                            name(weight, WeightKey.Part.ELEMENTS),
                            weight.layerSize() * data.dtype().bytes()),
                    elements(name(weight, WeightKey.Part.SCALES), WeightData.scaleBytes(weight) / weight.layers()));
            for (int layer = 0; layer < weight.layers(); layer++) {
                fill(own.layer(layer), data.layer(layer));
                fill(own.layerScales(layer), data.layerScales(layer));
            }
        }
    }

    /** What is kept as it is stored lies otherwise on the host: it is not copied. */
    private static void requireInPlace(Weight weight, Weights loaded) {
        for (int layer = 0; layer < weight.layers(); layer++) {
            for (StoredColumns columns : loaded.columns(weight, layer)) {
                if (columns instanceof StoredColumns.Blocks) {
                    throw new IllegalArgumentException(
                            "blocks of weight " + weight.name() + " lie in PANELS, a device wants words");
                }
            }
        }
    }

    private static void fill(MemorySegment own, MemorySegment loaded) {
        if (!loaded.isNative() || loaded.address() != own.address()) {
            own.copyFrom(loaded);
        }
    }

    /**
     * Frees the host's memory of the weights, once every graph that owns one has copied it to the device. They are only read
     * there, so that no driver has pinned them: see {@link OwnPages}.
     */
    public void releaseWeights() {
        weightArena.close();
    }

    /** @throws IllegalArgumentException if there is no such array in the plan */
    public <T extends TornadoNativeArray> T get(ArrayKey<T> key) {
        TornadoNativeArray array = key instanceof ConstantKey<T> constant
                ? arrays.computeIfAbsent(key, _ -> create(constant))
                : arrays.get(key);
        if (array == null) {
            throw new IllegalArgumentException("no array is planned for " + key);
        }
        return key.type().array().cast(array);
    }

    private <T extends TornadoNativeArray> T create(ConstantKey<T> constant) {
        T array = OwnPages.allocate(new PlannedArray<>(constant, constant.elements()), arena);
        constant.fill(array);
        return array;
    }

    @Override
    public void close() {
        if (weightArena.scope().isAlive()) {
            weightArena.close();
        }
        arena.close();
    }
}
