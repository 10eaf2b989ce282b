package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.checkpoint.ColumnRun;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.List;

/** Brings a program's weights into memory, such as {@code memory -> WeightLoader.load(checkpoint, program, dtype, memory)}. */
@FunctionalInterface
public interface WeightSource {
    /**
     * @param memory hands out the arrays that are copied to the device; weights that lie elsewhere are copied into them
     * @return the weights of the program, in the type that the forward pass was opened for
     */
    Weights load(WeightAllocator memory);

    /** In what a layer of a matrix is kept, where tensors are kept as they are stored. */
    default List<ColumnRun> columns(Weight weight, int layer) {
        throw new IllegalStateException("tensors are not kept apart");
    }

    /** The weights of a model. */
    static WeightSource of(ModelSource model, Program program, DType dtype) {
        return new WeightSource() {
            @Override
            public Weights load(WeightAllocator memory) {
                return model.load(program, dtype, memory);
            }

            @Override
            public List<ColumnRun> columns(Weight weight, int layer) {
                return model.columns(weight, layer);
            }
        };
    }
}
