package io.github.tornadotransformers.models.gemma2;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.LayerWindows;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.models.rope.Rope;

/**
 * The hyperparameters of Gemma 2; Hugging Face's names in brackets where they differ.
 *
 * @param windows every other layer has a sliding window ({@code sliding_window}, {@code layer_types})
 * @param activation of the MLP's gate ({@code hidden_activation})
 * @param logitCap what logits are capped at ({@code final_logit_softcapping}); infinite for none
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record Gemma2Config(
        Sizes sizes,
        Heads heads,
        Rope rope,
        LayerWindows windows,
        float rmsNormEps,
        Activation activation,
        Attention attention,
        float logitCap,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "gemma2";

    /**
     * What attention does besides.
     *
     * @param queryScalar scores are divided by its root ({@code query_pre_attn_scalar})
     * @param scoreCap what scores are capped at ({@code attn_logit_softcapping}); infinite for none
     * @param isBiased whether q, k, v and o have a bias ({@code attention_bias})
     */
    public record Attention(double queryScalar, float scoreCap, boolean isBiased) {
        Scaling scaling() {
            return Scaling.by((float) (1 / Math.sqrt(queryScalar))).capped(scoreCap);
        }
    }

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public Gemma2Config miniature() {
        Sizes few = sizes.miniature();
        return new Gemma2Config(
                few,
                heads.miniature(),
                rope.withDimensions(heads.miniature().headDim()),
                windows.withLayers(few.layers()),
                rmsNormEps,
                activation,
                attention,
                logitCap,
                tiedHead);
    }

    @Override
    public Gemma2Config withLayers(int layers) {
        return new Gemma2Config(
                sizes.withLayers(layers),
                heads,
                rope,
                windows.withLayers(layers),
                rmsNormEps,
                activation,
                attention,
                logitCap,
                tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return Gemma2Program.of(this, contextLength);
    }
}
