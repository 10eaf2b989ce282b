package io.github.tornadotransformers.models.gpt2;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Program;

/**
 * GPT-2's hyperparameters (Radford et al. 2019), named as the field names them; Hugging Face's names in brackets.
 *
 * @param sizes {@code vocab_size}, {@code n_positions}, {@code n_embd}, {@code n_inner} (4 times the hidden size where null)
 *     and {@code n_layer}
 * @param headCount {@code n_head}
 * @param scalesAttention whether scores are divided by sqrt(headDim) ({@code scale_attn_weights})
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record Gpt2Config(Sizes sizes, int headCount, float layerNormEps, boolean scalesAttention, boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "gpt2";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public Heads heads() {
        return new Heads(headCount, headCount, sizes.hiddenSize() / headCount);
    }

    @Override
    public Gpt2Config miniature() {
        return new Gpt2Config(sizes.miniature(), 4, layerNormEps, scalesAttention, tiedHead);
    }

    @Override
    public Gpt2Config withLayers(int layers) {
        return new Gpt2Config(sizes.withLayers(layers), headCount, layerNormEps, scalesAttention, tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return Gpt2Program.of(this, contextLength);
    }
}
