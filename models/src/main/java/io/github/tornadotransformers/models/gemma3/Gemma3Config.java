package io.github.tornadotransformers.models.gemma3;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.LayerWindows;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.models.rope.Rope;

/**
 * The hyperparameters of Gemma 3's text models; Hugging Face's names in brackets where they differ.
 *
 * @param rope of layers that see everything ({@code rope_theta}, or the section {@code full_attention})
 * @param localRope of layers with a window ({@code rope_local_base_freq}, or the section {@code sliding_attention})
 * @param windows five of six layers have a sliding window ({@code sliding_window}, {@code layer_types})
 * @param activation of the MLP's gate ({@code hidden_activation})
 * @param attention what it does besides
 * @param logitCap what logits are capped at ({@code final_logit_softcapping}); infinite for none
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record Gemma3Config(
        Sizes sizes,
        Heads heads,
        Rope rope,
        Rope localRope,
        LayerWindows windows,
        float rmsNormEps,
        Activation activation,
        Attention attention,
        float logitCap,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "gemma3_text";

    /**
     * What attention does besides.
     *
     * @param queryScalar scores are divided by its root ({@code query_pre_attn_scalar})
     * @param isBiased whether q, k, v and o have a bias ({@code attention_bias})
     */
    public record Attention(double queryScalar, boolean isBiased) {
        Scaling scaling() {
            return Scaling.by((float) (1 / Math.sqrt(queryScalar)));
        }
    }

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public Gemma3Config miniature() {
        Sizes few = sizes.miniature();
        return new Gemma3Config(
                few,
                heads.miniature(),
                rope.withDimensions(heads.miniature().headDim()),
                localRope.withDimensions(heads.miniature().headDim()),
                windows.withLayers(few.layers()),
                rmsNormEps,
                activation,
                attention,
                logitCap,
                tiedHead);
    }

    @Override
    public Gemma3Config withLayers(int layers) {
        return new Gemma3Config(
                sizes.withLayers(layers),
                heads,
                rope,
                localRope,
                windows.withLayers(layers),
                rmsNormEps,
                activation,
                attention,
                logitCap,
                tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return Gemma3Program.of(this, contextLength);
    }
}
