package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.util.function.Consumer;

/** The tensors of a checkpoint, as they are stored. Blocks along the columns, which no product reads, are float32. */
record StoredTensors(Checkpoint checkpoint) implements StoredLoader.Source {
    @Override
    public ColumnType type(Weight weight, int layer, TensorPart part) {
        StoredTensor tensor = checkpoint.tensor(part.tensorName(layer));
        boolean alongRows = tensor.form().of(part).transposed();
        return tensor.blocks().isPresent() && alongRows
                ? new ColumnType.Blocks(tensor.blocks().get())
                : new ColumnType.Plain(tensor.type().map(StoredType::widened).orElse(DType.F32));
    }

    @Override
    public void readBlocks(Weight weight, int layer, TensorPart part, Consumer<TensorBytes> to) {
        try (TensorReader reader = new TensorReader(checkpoint.tensor(part.tensorName(layer)))) {
            to.accept(reader);
        }
    }

    @Override
    public void fill(WeightData data, int layer, TensorPart part) {
        WeightLoader.fill(checkpoint.tensor(part.tensorName(layer)), data, layer, part);
    }
}
