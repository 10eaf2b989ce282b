package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Brings a checkpoint's tensors into memory as a program's weights: stacked over layers, {@code [rows][columns]}, in the
 * chosen type. Tensors are read in pieces, so that the peak is little more than the weights.
 */
public final class WeightLoader {
    /** Fills a weight's columns of one layer that belong to one tensor. */
    @FunctionalInterface
    interface PartFiller {
        void fill(WeightData data, int layer, TensorPart part);
    }

    private WeightLoader() {}

    /**
     * @param dtype of the matrices; weights of kind {@code FLOAT32} are float32 whatever it is
     * @return the weights, in memory of the allocator, which lives as long as the allocator says
     * @throws CheckpointException if the tensors do not fit the program, a file cannot be read, or a finite value has no
     *     finite counterpart in the chosen type
     */
    public static Weights load(Checkpoint checkpoint, Program program, DType dtype, WeightAllocator allocator) {
        checkpoint.checkTensors(program);
        if (dtype == DType.STORED) {
            return new StoredLoader(new StoredTensors(checkpoint), allocator).load(program);
        }
        return load(program, dtype, allocator, (data, layer, part) -> fill(checkpoint, data, layer, part));
    }

    /** As {@link #load}, from wherever the filler takes them. */
    static Weights load(Program program, DType dtype, WeightAllocator allocator, PartFiller filler) {
        SequencedMap<Weight, WeightData> data = allocate(program, dtype, allocator);
        data.values().forEach(each -> fillAll(each, filler));
        return new Weights(data);
    }

    /** Memory for all weights, in an order that depends on the program alone. */
    static SequencedMap<Weight, WeightData> allocate(Program program, DType dtype, WeightAllocator allocator) {
        SequencedMap<Weight, WeightData> data = new LinkedHashMap<>();
        for (Weight weight : program.weights()) {
            data.put(
                    weight,
                    weight.kind() == Weight.Kind.FLOAT32
                            ? allocate(weight, DType.F32, WeightLayout.ROW_MAJOR, allocator)
                            : allocate(weight, dtype, allocator.layout(), allocator));
        }
        return data;
    }

    static WeightData allocate(Weight weight, DType dtype, WeightLayout layout, WeightAllocator allocator) {
        int layers = weight.layers();
        List<MemorySegment> elements =
                allocator.allocateLayers(weight.name(), layers, WeightData.elementBytes(weight, dtype) / layers);
        List<MemorySegment> scales = dtype == DType.INT8
                ? allocator.allocateLayers(
                        WeightAllocator.scalesOf(weight), layers, WeightData.scaleBytes(weight) / layers)
                : List.of();
        return new WeightData(weight, dtype, layout, elements, scales);
    }

    static void fillAll(WeightData data, PartFiller filler) {
        Weight weight = data.weight();
        if (weight.parts().stream().mapToInt(TensorPart::columns).sum() < weight.columns()) {
            data.elements().forEach(elements -> elements.fill((byte) 0)); // the bias of a projection that has none
        }
        for (int layer = 0; layer < weight.layers(); layer++) {
            for (TensorPart part : weight.parts()) {
                filler.fill(data, layer, part);
            }
        }
    }

    private static void fill(Checkpoint checkpoint, WeightData data, int layer, TensorPart part) {
        fill(checkpoint.tensor(part.tensorName(layer)), data, layer, part);
    }

    /** Fills the columns of a part. */
    static void fill(StoredTensor tensor, WeightData data, int layer, TensorPart part) {
        long overflows;
        try (TensorReader reader = new TensorReader(tensor)) {
            overflows = copy(
                    tensor.readType(),
                    tensor.elements(reader),
                    data,
                    layer,
                    tensor.form().of(part));
        }
        if (overflows > 0) {
            throw new CheckpointException(Quoted.path(tensor.file()) + ": " + overflows + " values of tensor "
                    + Quoted.text(tensor.name()) + " (" + tensor.dtype() + ") are too large for " + data.dtype()
                    + ": choose a wider data type");
        }
    }

    /**
     * Copies a tensor as a checkpoint would store it to its place in a weight.
     *
     * @return how many finite values became infinite
     */
    static long copy(StoredType type, TensorBytes tensor, WeightData data, int layer, TensorPart part) {
        Weight weight = data.weight();
        long rows = part.transposed() ? part.columns() : weight.rows();
        long columns = part.transposed() ? weight.rows() : part.columns();
        long overflows =
                new TensorCopy(type, tensor, rows, columns, part.transposed(), data, layer, part.firstColumn()).run();
        if (part.offset() != 0f) {
            addOffset(data.layer(layer), part);
        }
        return overflows;
    }

    private static void addOffset(MemorySegment vector, TensorPart part) {
        for (int column = part.firstColumn(); column < part.firstColumn() + part.columns(); column++) {
            float stored = vector.getAtIndex(ValueLayout.JAVA_FLOAT, column);
            vector.setAtIndex(ValueLayout.JAVA_FLOAT, column, stored + part.offset());
        }
    }
}
