package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.Weights;

/** Brings a program's weights into memory, such as {@code memory -> WeightLoader.load(checkpoint, program, dtype, memory)}. */
@FunctionalInterface
public interface WeightSource {
    /**
     * @param memory hands out the arrays that are copied to the device; weights that lie elsewhere are copied into them
     * @return the weights of the program, in the type that the forward pass was opened for
     */
    Weights load(WeightAllocator memory);
}
