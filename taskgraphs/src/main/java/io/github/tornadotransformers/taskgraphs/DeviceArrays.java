package io.github.tornadotransformers.taskgraphs;

import io.github.tornadotransformers.kernels.WeightFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * The host's side of every array on the device. Weights and tables are filled here and copied to the device once; most others
 * only name the device's memory.
 */
final class DeviceArrays implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Map<String, TornadoNativeArray> arrays = new HashMap<>();

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
    DeviceArrays(MemoryPlan plan) {
        for (PlannedArray planned : plan.arrays()) {
            arrays.put(planned.name(), planned.allocate(arena, WeightAllocator.ALIGNMENT));
        }
    }

    /** Fills weights and tables. Weights that the source did not write in place are copied. */
    void load(Program program, WeightSource source) {
        Weights weights = source.load((name, _) -> array(name).getSegment());
        for (Weight weight : program.weights()) {
            WeightData data = weights.get(weight);
            fill(weight.name(), data.elements());
            if (data.dtype() == DType.INT8) {
                fill(weight.name() + MemoryPlan.SCALES, data.scales());
            }
        }
        for (Op op : program.ops()) {
            if (op instanceof Op.Rotary rotary) {
                RotaryTable table = rotary.table();
                FloatArray angles = floats(rotary.name() + MemoryPlan.ANGLES);
                MemorySegment cosines = MemorySegment.ofArray(table.cosines());
                angles.getSegment().asSlice(0, cosines.byteSize()).copyFrom(cosines);
                angles.getSegment().asSlice(cosines.byteSize()).copyFrom(MemorySegment.ofArray(table.sines()));
                tables.add(angles);
            }
        }
    }

    private void fill(String name, MemorySegment elements) {
        TornadoNativeArray array = array(name);
        if (!elements.isNative() || elements.address() != array.getSegment().address()) {
            array.getSegment().copyFrom(elements);
        }
        tables.add(array);
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

    FloatArray floats(String name) {
        return (FloatArray) array(name);
    }

    IntArray ints(String name) {
        return (IntArray) array(name);
    }

    /** An array that says {@code layer}, for kernels that always work on it. */
    IntArray layer(int layer) {
        return layers.computeIfAbsent(layer, each -> constant(IntArray.fromElements(each)));
    }

    /** A bias that nothing reads. */
    FloatArray noFloats() {
        return noFloats;
    }

    DeviceMatrix matrix(Weight weight, DType dtype) {
        int format = format(dtype);
        TornadoNativeArray elements = array(weight.name());
        return new DeviceMatrix(
                format,
                elements instanceof FloatArray floats ? floats : noFloats,
                elements instanceof ShortArray shorts ? shorts : noShorts,
                elements instanceof ByteArray bytes ? bytes : noBytes,
                dtype == DType.INT8 ? floats(weight.name() + MemoryPlan.SCALES) : noFloats,
                powers.computeIfAbsent(format, each -> constant(WeightFormat.powers(each))));
    }

    private static int format(DType dtype) {
        return switch (dtype) {
            case F32 -> WeightFormat.F32;
            case BF16 -> WeightFormat.BF16;
            case F16 -> WeightFormat.F16;
            case INT8 -> WeightFormat.INT8;
        };
    }

    boolean isTable(TornadoNativeArray array) {
        return tables.contains(array);
    }

    boolean isConstant(TornadoNativeArray array) {
        return constants.contains(array);
    }

    @Override
    public void close() {
        arena.close();
    }
}
