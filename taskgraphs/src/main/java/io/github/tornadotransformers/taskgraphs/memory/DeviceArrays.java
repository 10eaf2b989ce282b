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
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray.Element;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
 * most others only name the device's memory. Each lies on pages of its own, see {@link OwnPages}.
 */
public final class DeviceArrays implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Arena weightArena = Arena.ofShared();
    private final LayerGroups groups;
    private final Map<String, TornadoNativeArray> arrays = new HashMap<>();

    /** The arrays of weights, of their scales and gradients: one for each group of layers. */
    private final Map<String, List<TornadoNativeArray>> weights = new HashMap<>();

    /** What the host fills before the device is first used, and no kernel writes. */
    private final Set<TornadoNativeArray> tables = new HashSet<>();

    /** Small tables, of which every graph has a copy of its own. */
    private final Set<TornadoNativeArray> constants = new HashSet<>();

    private final Map<Integer, IntArray> layers = new HashMap<>();
    private final Map<Integer, FloatArray> powers = new HashMap<>();
    private final FloatArray noFloats = (FloatArray) constant(Element.FLOAT, 1);
    private final ShortArray noShorts = (ShortArray) constant(Element.SHORT, 1);
    private final ByteArray noBytes = (ByteArray) constant(Element.BYTE, 1);

    /** Allocates what the plan says, whose sizes are known to fit. */
    public DeviceArrays(ArrayPlan plan, Program program) {
        this.groups = plan.groups();
        Map<String, PlannedArray> rest = new LinkedHashMap<>();
        plan.arrays().forEach(planned -> rest.put(planned.name(), planned));
        for (Weight weight : program.weights()) {
            List<String> names =
                    List.of(weight.name(), weight.name() + MemoryPlan.SCALES, MemoryPlan.GRADIENT + weight.name());
            for (String name : names) {
                List<TornadoNativeArray> parts = new ArrayList<>();
                for (int group = 0; group < (ArrayPlan.isStacked(weight) ? groups.count() : 1); group++) {
                    PlannedArray part = rest.remove(ArrayPlan.isStacked(weight) ? name + groups.suffix(group) : name);
                    if (part != null) {
                        parts.add(allocate(part, weightArena));
                    }
                }
                weights.put(name, parts);
            }
        }
        rest.values().forEach(planned -> allocate(planned, arena));
    }

    private TornadoNativeArray allocate(PlannedArray planned, Arena from) {
        TornadoNativeArray array = OwnPages.allocate(planned, from);
        arrays.put(planned.name(), array);
        return array;
    }

    private TornadoNativeArray constant(Element element, long elements) {
        TornadoNativeArray array = OwnPages.allocate(new PlannedArray("a constant", element, elements), arena);
        constants.add(array);
        return array;
    }

    /** Hands out the memory of the weights' arrays. */
    private final class InPlace implements WeightAllocator {
        @Override
        public MemorySegment allocate(String name, long bytes) {
            return elements(name).getFirst();
        }

        @Override
        public List<MemorySegment> allocateLayers(String name, int layers, long layerBytes) {
            return elements(name);
        }
    }

    private List<MemorySegment> elements(String weight) {
        return weights.get(weight).stream().map(TornadoNativeArray::getSegment).toList();
    }

    /** Fills weights and tables. Weights that the source did not write in place are copied. */
    public void load(Program program, WeightSource source) {
        Weights loaded = source.load(new InPlace());
        for (Weight weight : program.weights()) {
            WeightData data = loaded.get(weight);
            if (data.layout() != WeightLayout.ROW_MAJOR) {
                throw new IllegalArgumentException(
                        "weight " + weight.name() + " lies in " + data.layout() + ", a device wants ROW_MAJOR");
            }
            String scales = weight.name() + MemoryPlan.SCALES;
            WeightData own = new WeightData(
                    weight, data.dtype(), WeightLayout.ROW_MAJOR, elements(weight.name()), elements(scales));
            for (int layer = 0; layer < weight.layers(); layer++) {
                fill(own.layer(layer), data.layer(layer));
                fill(own.layerScales(layer), data.layerScales(layer));
            }
            tables.addAll(weights.get(weight.name()));
            tables.addAll(weights.get(scales));
        }
        loadAngles(program);
    }

    private static void fill(MemorySegment own, MemorySegment loaded) {
        if (!loaded.isNative() || loaded.address() != own.address()) {
            own.copyFrom(loaded);
        }
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

    /**
     * Frees the host's memory of the weights, once every graph that owns one has copied it to the device. They are only read
     * there, so that no driver has pinned them: see {@link OwnPages}.
     */
    public void releaseWeights() {
        weightArena.close();
    }

    /** The array that the plan calls so. */
    TornadoNativeArray array(String name) {
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
        return layers.computeIfAbsent(layer, each -> {
            IntArray array = (IntArray) constant(Element.INT, 1);
            array.set(0, each);
            return array;
        });
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
                powers.computeIfAbsent(format, this::powers));
    }

    private FloatArray powers(int format) {
        FloatArray values = WeightFormat.powers(format);
        FloatArray array = (FloatArray) constant(Element.FLOAT, values.getSize());
        array.getSegment().copyFrom(values.getSegment());
        return array;
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
        if (weightArena.scope().isAlive()) {
            weightArena.close();
        }
        arena.close();
    }
}
