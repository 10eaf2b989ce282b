package io.github.tornadotransformers.models.gpt2;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.Program;

/**
 * GPT-2's hyperparameters (Radford et al. 2019), named as the field names them; Hugging Face's names in brackets.
 *
 * @param contextLength positions of the learned position embedding ({@code n_positions})
 * @param hiddenSize {@code n_embd}
 * @param intermediateSize {@code n_inner}, 4 times the hidden size where null
 * @param layers {@code n_layer}
 * @param heads {@code n_head}
 * @param scalesAttention whether scores are divided by sqrt(headDim) ({@code scale_attn_weights})
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record Gpt2Config(
        int vocabSize,
        int contextLength,
        int hiddenSize,
        int intermediateSize,
        int layers,
        int heads,
        float layerNormEps,
        boolean scalesAttention,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "gpt2";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    public int headDim() {
        return hiddenSize / heads;
    }

    @Override
    public Gpt2Config miniature() {
        return new Gpt2Config(512, 32, 128, 256, 1, 4, layerNormEps, scalesAttention, tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return Gpt2Program.of(this, contextLength);
    }
}
