package io.github.tornadotransformers.models.olmo2;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;

/**
 * The hyperparameters of OLMo 2; Hugging Face's names in brackets where they differ.
 *
 * @param activation of the MLP's gate ({@code hidden_act})
 * @param attentionBias whether q, k, v and o have a bias
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record Olmo2Config(
        Sizes sizes,
        Heads heads,
        Rope rope,
        float rmsNormEps,
        Activation activation,
        boolean attentionBias,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "olmo2";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public Olmo2Config miniature() {
        Sizes few = sizes.miniature();
        return new Olmo2Config(
                few,
                heads.miniature(),
                rope.withDimensions(heads.miniature().headDim()),
                rmsNormEps,
                activation,
                attentionBias,
                tiedHead);
    }

    @Override
    public Olmo2Config withLayers(int layers) {
        return new Olmo2Config(sizes.withLayers(layers), heads, rope, rmsNormEps, activation, attentionBias, tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return Olmo2Program.of(this, contextLength);
    }
}
