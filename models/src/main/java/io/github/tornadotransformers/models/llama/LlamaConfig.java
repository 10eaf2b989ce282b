package io.github.tornadotransformers.models.llama;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;

/**
 * The hyperparameters of Llama 1, 2, 3 and everything else that says {@code model_type: llama}; Hugging Face's names in
 * brackets where they differ.
 *
 * @param attentionBias whether q, k, v and o have a bias
 * @param mlpBias whether gate, up and down have a bias
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record LlamaConfig(
        Sizes sizes, Heads heads, Rope rope, float rmsNormEps, boolean attentionBias, boolean mlpBias, boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "llama";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public LlamaConfig miniature() {
        Heads few = heads.miniature();
        return new LlamaConfig(
                sizes.miniature(),
                few,
                rope.withDimensions(few.headDim()),
                rmsNormEps,
                attentionBias,
                mlpBias,
                tiedHead);
    }

    @Override
    public LlamaConfig withLayers(int layers) {
        return new LlamaConfig(sizes.withLayers(layers), heads, rope, rmsNormEps, attentionBias, mlpBias, tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return LlamaProgram.of(this, contextLength);
    }
}
