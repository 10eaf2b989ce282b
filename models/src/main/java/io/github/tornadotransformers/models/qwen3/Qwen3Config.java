package io.github.tornadotransformers.models.qwen3;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.LayerWindows;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;

/**
 * The hyperparameters of Qwen3 (dense); Hugging Face's names in brackets where they differ.
 *
 * @param windows layers with a sliding window ({@code use_sliding_window}, {@code sliding_window}, {@code max_window_layers})
 * @param activation of the MLP's gate ({@code hidden_act})
 * @param attentionBias whether q, k, v and o have a bias
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record Qwen3Config(
        Sizes sizes,
        Heads heads,
        Rope rope,
        LayerWindows windows,
        float rmsNormEps,
        Activation activation,
        boolean attentionBias,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "qwen3";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public Qwen3Config miniature() {
        Sizes few = sizes.miniature();
        return new Qwen3Config(
                few,
                heads.miniature(),
                rope.withDimensions(heads.miniature().headDim()),
                windows.withLayers(few.layers()),
                rmsNormEps,
                activation,
                attentionBias,
                tiedHead);
    }

    @Override
    public Qwen3Config withLayers(int layers) {
        return new Qwen3Config(
                sizes.withLayers(layers),
                heads,
                rope,
                windows.withLayers(layers),
                rmsNormEps,
                activation,
                attentionBias,
                tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return Qwen3Program.of(this, contextLength);
    }
}
