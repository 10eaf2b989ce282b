package io.github.tornadotransformers.models;

import io.github.tornadotransformers.models.program.Program;

/** What a checkpoint's {@code config.json} says of the model, checked: a family's config builds its program. */
public interface ModelConfig {
    /** The value of {@code model_type}. */
    String modelType();

    int vocabSize();

    int layers();

    /** Positions that the model was trained for. */
    int contextLength();

    /**
     * The forward pass for sequences of at most {@code contextLength} positions.
     *
     * @throws IllegalArgumentException if {@code contextLength} is not in {@code [1, contextLength()]}
     */
    Program program(int contextLength);

    /** A model of the same family and options that runs within a millisecond: what it needs compiled, this one needs. */
    ModelConfig miniature();

    /** The number of parameters, as the literature counts them: a tied head once. */
    default long parameters() {
        return program(1).weights().stream().mapToLong(weight -> weight.size()).sum();
    }
}
