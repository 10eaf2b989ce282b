package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Loads a checkpoint and reads its weights back, element by element. */
final class LoadedFloats {
    private LoadedFloats() {}

    /** Every tensor by name, in a checkpoint's own layout, each element widened to float32. */
    static Map<String, List<Float>> of(ModelSource model, DType dtype) {
        Program program = model.config().program(1);
        Map<String, List<Float>> tensors = new TreeMap<>();
        try (Arena arena = Arena.ofShared()) {
            Weights weights = model.load(program, dtype, new ArenaAllocator(arena));
            for (Weight weight : program.weights()) {
                for (int layer = 0; layer < weight.layers(); layer++) {
                    for (TensorPart part : weight.parts()) {
                        tensors.put(part.tensorName(layer), tensor(weights.get(weight), layer, part));
                    }
                }
            }
        }
        return tensors;
    }

    private static List<Float> tensor(WeightData data, int layer, TensorPart part) {
        int rows = data.weight().rows();
        List<Float> elements = new ArrayList<>();
        for (int outer = 0; outer < (part.transposed() ? part.columns() : rows); outer++) {
            for (int inner = 0; inner < (part.transposed() ? rows : part.columns()); inner++) {
                int row = part.transposed() ? inner : outer;
                int column = part.firstColumn() + (part.transposed() ? outer : inner);
                elements.add(element(data, layer, row, column));
            }
        }
        return elements;
    }

    /** One element, widened. */
    static float element(WeightData data, int layer, int row, int column) {
        int rows = data.weight().rows();
        int columns = data.weight().columns();
        long index = data.layout().index(data.dtype(), rows, columns, row, column);
        MemorySegment elements = data.layer(layer);
        return switch (data.dtype()) {
            case F32 -> elements.getAtIndex(ValueLayout.JAVA_FLOAT, index);
            case BF16 -> Float.intBitsToFloat(elements.getAtIndex(ValueLayout.JAVA_SHORT, index) << 16);
            case F16 -> Float.float16ToFloat(elements.getAtIndex(ValueLayout.JAVA_SHORT, index));
            case STORED -> throw new IllegalStateException("tensors are kept apart");
            case INT8 -> {
                int blocks = Math.ceilDiv(rows, DType.BLOCK);
                long scale = data.layout().index(DType.F32, blocks, columns, row / DType.BLOCK, column);
                yield elements.get(ValueLayout.JAVA_BYTE, index)
                        * data.layerScales(layer).getAtIndex(ValueLayout.JAVA_FLOAT, scale);
            }
        };
    }
}
