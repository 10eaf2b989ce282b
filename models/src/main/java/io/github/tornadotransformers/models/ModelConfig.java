package io.github.tornadotransformers.models;

import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.SequencedSet;

/** What a checkpoint's {@code config.json} says of the model, checked: a family's config builds its program. */
public interface ModelConfig {
    /** The value of {@code model_type}. */
    String modelType();

    Sizes sizes();

    Heads heads();

    default int vocabSize() {
        return sizes().vocabSize();
    }

    default int layers() {
        return sizes().layers();
    }

    /** Positions that the model was trained for. */
    default int contextLength() {
        return sizes().contextLength();
    }

    /**
     * The forward pass for sequences of at most {@code contextLength} positions.
     *
     * @throws IllegalArgumentException if {@code contextLength} is not in {@code [1, contextLength()]}
     */
    Program program(int contextLength);

    /** A model of the same family and options that runs within a millisecond: what it needs compiled, this one needs. */
    ModelConfig miniature();

    /** The same model with fewer layers, its first ones, or with more of the same pattern. */
    ModelConfig withLayers(int layers);

    /** The weights that a checkpoint of this model has. */
    default SequencedSet<Weight> weights() {
        return program(1).weights();
    }

    /** The number of parameters, as the literature counts them: a tied head once. */
    default long parameters() {
        return weights().stream().mapToLong(Weight::size).sum();
    }
}
