package io.github.tornadotransformers.models.granite;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;

/**
 * The hyperparameters of Granite 3; Hugging Face's names in brackets where they differ.
 *
 * @param activation of the MLP's gate ({@code hidden_act})
 * @param multipliers of embeddings, scores, branches and logits
 * @param attentionBias whether q, k, v and o have a bias
 * @param mlpBias whether gate, up and down have a bias
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record GraniteConfig(
        Sizes sizes,
        Heads heads,
        Rope rope,
        float rmsNormEps,
        Activation activation,
        Multipliers multipliers,
        boolean attentionBias,
        boolean mlpBias,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "granite";

    /**
     * What is multiplied, and by what.
     *
     * @param embedding {@code embedding_multiplier}
     * @param attention of scores, instead of 1 / sqrt(headDim) ({@code attention_multiplier})
     * @param residual of what a branch adds ({@code residual_multiplier})
     * @param logits what logits are <em>divided</em> by ({@code logits_scaling})
     */
    public record Multipliers(double embedding, double attention, double residual, double logits) {}

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public GraniteConfig miniature() {
        Sizes few = sizes.miniature();
        return new GraniteConfig(
                few,
                heads.miniature(),
                rope.withDimensions(heads.miniature().headDim()),
                rmsNormEps,
                activation,
                multipliers,
                attentionBias,
                mlpBias,
                tiedHead);
    }

    @Override
    public GraniteConfig withLayers(int layers) {
        return new GraniteConfig(
                sizes.withLayers(layers),
                heads,
                rope,
                rmsNormEps,
                activation,
                multipliers,
                attentionBias,
                mlpBias,
                tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return GraniteProgram.of(this, contextLength);
    }
}
