package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.Program;

/** What an engine needs of a model: its shape, and where its weights come from. */
public interface ModelSource {
    ModelConfig config();

    /** The smallest type in memory that keeps every matrix as it is. */
    DType storedDType();

    /**
     * Brings the weights of a program into memory: stacked over layers, {@code [rows][columns]}.
     *
     * @param program one of {@link #config}'s
     * @param dtype of the matrices; weights of kind {@code FLOAT32} are float32 whatever it is
     * @return the weights, in memory of the allocator, which lives as long as the allocator says
     * @throws io.github.tornadotransformers.models.CheckpointException if they cannot be brought there
     */
    Weights load(Program program, DType dtype, WeightAllocator allocator);
}
