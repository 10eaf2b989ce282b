package io.github.tornadotransformers.models.qwen2;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.LayerWindows;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;

/**
 * The hyperparameters of Qwen2 and Qwen2.5; Hugging Face's names in brackets where they differ.
 *
 * @param windows layers with a sliding window ({@code use_sliding_window}, {@code sliding_window}, {@code max_window_layers})
 * @param activation of the MLP's gate ({@code hidden_act})
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record Qwen2Config(
        Sizes sizes,
        Heads heads,
        Rope rope,
        LayerWindows windows,
        float rmsNormEps,
        Activation activation,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "qwen2";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public Qwen2Config miniature() {
        Sizes few = sizes.miniature();
        return new Qwen2Config(
                few,
                heads.miniature(),
                rope.withDimensions(heads.miniature().headDim()),
                windows.withLayers(few.layers()),
                rmsNormEps,
                activation,
                tiedHead);
    }

    @Override
    public Qwen2Config withLayers(int layers) {
        return new Qwen2Config(
                sizes.withLayers(layers), heads, rope, windows.withLayers(layers), rmsNormEps, activation, tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return Qwen2Program.of(this, contextLength);
    }
}
