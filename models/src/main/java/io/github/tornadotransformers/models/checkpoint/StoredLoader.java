package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Brings tensors into memory, each matrix in the type in which it is stored, those of a weight apart. */
record StoredLoader(Source source, WeightAllocator allocator) {
    /** Gives the columns of a part of a matrix. */
    @FunctionalInterface
    interface Source {
        StoredColumns columns(StoredLoader loader, Weight weight, int layer, TensorPart part);
    }

    /** The tensors of a checkpoint. */
    static StoredLoader of(Checkpoint checkpoint, WeightAllocator allocator) {
        return new StoredLoader(
                (loader, weight, layer, part) -> loader.columns(checkpoint, weight, layer, part), allocator);
    }

    /** @param filler of all that is no block */
    Weights load(Program program, WeightLoader.PartFiller filler) {
        SequencedMap<Weight, WeightData> vectors = new LinkedHashMap<>();
        SequencedMap<Weight, List<List<StoredColumns>>> matrices = new LinkedHashMap<>();
        for (Weight weight : program.weights()) {
            if (weight.kind() == Weight.Kind.FLOAT32) {
                WeightData data = WeightLoader.allocate(weight, DType.F32, WeightLayout.ROW_MAJOR, allocator);
                WeightLoader.fillAll(data, filler);
                vectors.put(weight, data);
            } else {
                matrices.put(weight, layers(weight));
            }
        }
        return new Weights(vectors, matrices);
    }

    private List<List<StoredColumns>> layers(Weight weight) {
        List<List<StoredColumns>> layers = new ArrayList<>();
        for (int layer = 0; layer < weight.layers(); layer++) {
            List<StoredColumns> columns = new ArrayList<>();
            for (TensorPart part : weight.parts()) {
                columns.add(source.columns(this, weight, layer, part));
            }
            layers.add(List.copyOf(columns));
        }
        return layers;
    }

    private StoredColumns columns(Checkpoint checkpoint, Weight weight, int layer, TensorPart part) {
        StoredTensor tensor = checkpoint.tensor(part.tensorName(layer));
        boolean isInBlocks =
                tensor.blocks().isPresent() && tensor.form().of(part).transposed();
        if (!isInBlocks) {
            DType dtype = tensor.type().map(StoredType::widened).orElse(DType.F32);
            return plain(
                    weight, layer, part, dtype, (data, only, alone) -> WeightLoader.fill(tensor, data, only, alone));
        }
        try (TensorReader reader = new TensorReader(tensor)) {
            return blocks(weight, part, tensor.blocks().get(), reader);
        }
    }

    /** @param tensor {@code [columns][rows]} */
    StoredColumns blocks(Weight weight, TensorPart part, BlockFormat format, TensorBytes tensor) {
        MemorySegment memory = allocator.allocate(weight.name(), format.bytes(weight.rows(), part.columns()));
        BlockData data = new BlockData(format, weight.rows(), part.columns(), memory);
        BlockLoader.fill(data, tensor);
        return new StoredColumns.Blocks(part.firstColumn(), data);
    }

    StoredColumns plain(Weight weight, int layer, TensorPart part, DType dtype, WeightLoader.PartFiller filler) {
        TensorPart alone = new TensorPart(part.tensorName(layer), 0, part.columns(), part.transposed(), part.offset());
        Weight ofPart = new Weight(weight.name(), 1, weight.rows(), part.columns(), weight.kind(), List.of(alone));
        WeightData data = WeightLoader.allocate(ofPart, dtype, allocator.layout(), allocator);
        filler.fill(data, 0, alone);
        return new StoredColumns.Plain(part.firstColumn(), data);
    }
}
