package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.List;

/**
 * A model of random weights, made in memory: the weights of a {@link RandomCheckpoint} of the same config and seed, stored as
 * float32, without its file. As {@code STORED}, they are others.
 */
public record RandomModel(ModelConfig config, RandomTensors tensors) implements ModelSource {
    public RandomModel(ModelConfig config, long seed) {
        this(config, seed, List.of(BlockFormat.Q4_0, BlockFormat.Q8_0));
    }

    /** @param formats as {@link RandomTensors} has them */
    public RandomModel(ModelConfig config, long seed, List<BlockFormat> formats) {
        this(config, new RandomTensors(seed, formats));
    }

    @Override
    public DType storedDType() {
        return DType.F32;
    }

    @Override
    public Weights load(Program program, DType dtype, WeightAllocator allocator) {
        return dtype == DType.STORED
                ? new StoredLoader(tensors, allocator).load(program)
                : WeightLoader.load(program, dtype, allocator, tensors::fill);
    }

    @Override
    public List<ColumnRun> columns(Weight weight, int layer) {
        return ColumnRun.of(weight, part -> tensors.type(weight, layer, part));
    }
}
