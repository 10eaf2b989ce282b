package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * The host's side of every array on the device. Weights and tables are filled here, copied to the device once, and freed here;
 * most others only name the device's memory.
 */
public final class DeviceArrays implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Arena tableArena = Arena.ofShared();
    private final LayerGroups groups;
    private final Map<String, TornadoNativeArray> arrays = new HashMap<>();

    /** The elements of weights, of all layers together. */
    private final Map<String, MemorySegment> weights = new HashMap<>();

    /** What the host fills before the device is first used, and no kernel writes. */
    private final Set<TornadoNativeArray> tables = new HashSet<>();

    /** Small tables, of which every graph has a copy of its own. */
    private final Set<TornadoNativeArray> constants = new HashSet<>();

    private final Map<Integer, IntArray> layers = new HashMap<>();
    private final Map<Integer, FloatArray> powers = new HashMap<>();
    private final FloatArray noFloats = constant(new FloatArray(1));
    private final ShortArray noShorts = constant(new ShortArray(1));
    private final ByteArray noBytes = constant(new ByteArray(1));

    /** Allocates what the plan says, whose sizes are known to fit. */
    public DeviceArrays(ArrayPlan plan, Program program) {
        this.groups = plan.groups();
        Map<String, PlannedArray> rest = new LinkedHashMap<>();
        plan.arrays().forEach(planned -> rest.put(planned.name(), planned));
        for (Weight weight : program.weights()) {
            List<String> names =
                    List.of(weight.name(), weight.name() + MemoryPlan.SCALES, MemoryPlan.GRADIENT + weight.name());
            for (String name : names) {
                List<PlannedArray> parts = new ArrayList<>();
                for (int group = 0; group < (ArrayPlan.isStacked(weight) ? groups.count() : 1); group++) {
                    PlannedArray part = rest.remove(ArrayPlan.isStacked(weight) ? name + groups.suffix(group) : name);
                    if (part != null) {
                        parts.add(part);
                    }
                }
                if (!parts.isEmpty()) {
                    weights.put(name, allocate(parts, tableArena));
                }
            }
        }
        rest.values().forEach(planned -> allocate(List.of(planned), arena));
    }

    /**
     * Arrays whose elements lie one after the other.
     *
     * @return the elements of all
     */
    private MemorySegment allocate(List<PlannedArray> parts, Arena from) {
        long header = TornadoNativeArray.ARRAY_HEADER;
        long size = parts.stream().mapToLong(part -> part.bytes() - header).sum();
        MemorySegment elements = from.allocate(WeightAllocator.ALIGNMENT + size, WeightAllocator.ALIGNMENT);
        long start = WeightAllocator.ALIGNMENT;
        for (PlannedArray part : parts) {
            arrays.put(part.name(), wrap(part, elements.asSlice(start - header, part.bytes())));
            start += part.bytes() - header;
        }
        return elements.asSlice(WeightAllocator.ALIGNMENT);
    }

    /** The header that TornadoVM writes before the elements, and never reads, may lie on the end of the array before. */
    private static TornadoNativeArray wrap(PlannedArray part, MemorySegment memory) {
        MemorySegment header = memory.asSlice(0, TornadoNativeArray.ARRAY_HEADER);
        byte[] before = header.toArray(ValueLayout.JAVA_BYTE);
        TornadoNativeArray array = part.over(memory);
        header.copyFrom(MemorySegment.ofArray(before));
        return array;
    }

    /** Fills weights and tables. Weights that the source did not write in place are copied. */
    public void load(Program program, WeightSource source) {
        Weights loaded = source.load((name, _) -> weights.get(name));
        for (Weight weight : program.weights()) {
            WeightData data = loaded.get(weight);
            if (data.layout() != WeightLayout.ROW_MAJOR) {
                throw new IllegalArgumentException(
                        "weight " + weight.name() + " lies in " + data.layout() + ", a device wants ROW_MAJOR");
            }
            fill(weight.name(), data.elements());
            if (data.dtype() == DType.INT8) {
                fill(weight.name() + MemoryPlan.SCALES, data.scales());
            }
        }
        loadAngles(program);
    }

    /** Fills what rotation needs. */
    public void loadAngles(Program program) {
        for (Op op : program.ops()) {
            if (op instanceof Op.Rotary rotary) {
                RotaryTable.Angles table = rotary.table().upTo(rotary.table().positions());
                FloatArray angles = floats(rotary.name() + MemoryPlan.ANGLES);
                MemorySegment cosines = MemorySegment.ofArray(table.cosines());
                angles.getSegment().asSlice(0, cosines.byteSize()).copyFrom(cosines);
                angles.getSegment().asSlice(cosines.byteSize()).copyFrom(MemorySegment.ofArray(table.sines()));
                tables.add(angles);
            }
        }
    }

    private void fill(String name, MemorySegment elements) {
        MemorySegment memory = weights.get(name);
        if (!elements.isNative() || elements.address() != memory.address()) {
            memory.copyFrom(elements);
        }
        arrays.forEach((each, array) -> {
            if (each.startsWith(name)
                    && memory.asOverlappingSlice(array.getSegment()).isPresent()) {
                tables.add(array);
            }
        });
    }

    /** Frees the host's memory of the weights, once every graph that owns one has copied it to the device. */
    public void releaseWeights() {
        tableArena.close();
    }

    private <T extends TornadoNativeArray> T constant(T array) {
        constants.add(array);
        return array;
    }

    private TornadoNativeArray array(String name) {
        TornadoNativeArray array = arrays.get(name);
        if (array == null) {
            throw new IllegalArgumentException("no array is planned for " + name);
        }
        return array;
    }

    public FloatArray floats(String name) {
        return (FloatArray) array(name);
    }

    public IntArray ints(String name) {
        return (IntArray) array(name);
    }

    /** The array that holds a weight's or a cache's layers of a group. */
    public FloatArray floats(String name, int group) {
        return floats(name + groups.suffix(group));
    }

    /** An array that says {@code layer}, for kernels that always work on it. */
    public IntArray layer(int layer) {
        return layers.computeIfAbsent(layer, each -> constant(IntArray.fromElements(each)));
    }

    /** A bias that nothing reads. */
    public FloatArray noFloats() {
        return noFloats;
    }

    /** @param group of layers, where the weight is stacked */
    public DeviceMatrix matrix(Weight weight, DType dtype, int group) {
        String suffix = ArrayPlan.isStacked(weight) ? groups.suffix(group) : "";
        int format = format(dtype);
        TornadoNativeArray elements = array(weight.name() + suffix);
        return new DeviceMatrix(
                format,
                elements instanceof FloatArray floats ? floats : noFloats,
                elements instanceof ShortArray shorts ? shorts : noShorts,
                elements instanceof ByteArray bytes ? bytes : noBytes,
                dtype == DType.INT8 ? floats(weight.name() + MemoryPlan.SCALES + suffix) : noFloats,
                powers.computeIfAbsent(format, each -> constant(WeightFormat.powers(each))));
    }

    public FloatArray vector(Weight weight, int group) {
        return ArrayPlan.isStacked(weight) ? floats(weight.name(), group) : floats(weight.name());
    }

    /** Of the shape of {@link #vector}. */
    public FloatArray gradient(Weight weight, int group) {
        String name = MemoryPlan.GRADIENT + weight.name();
        return ArrayPlan.isStacked(weight) ? floats(name, group) : floats(name);
    }

    public LayerGroups groups() {
        return groups;
    }

    private static int format(DType dtype) {
        return switch (dtype) {
            case F32 -> WeightFormat.F32;
            case BF16 -> WeightFormat.BF16;
            case F16 -> WeightFormat.F16;
            case INT8 -> WeightFormat.INT8;
        };
    }

    public boolean isTable(TornadoNativeArray array) {
        return tables.contains(array);
    }

    public boolean isConstant(TornadoNativeArray array) {
        return constants.contains(array);
    }

    @Override
    public void close() {
        if (tableArena.scope().isAlive()) {
            tableArena.close();
        }
        arena.close();
    }
}
