package io.github.tornadotransformers.models.phi3;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.LayerWindows;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;

/**
 * The hyperparameters of Phi-3 and Phi-4-mini; Hugging Face's names in brackets where they differ.
 *
 * @param rope of the first part of each head ({@code partial_rotary_factor}), plain or LongRoPE
 * @param windows all layers have a sliding window, or none ({@code sliding_window})
 * @param activation of the MLP's gate ({@code hidden_act})
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record Phi3Config(
        Sizes sizes,
        Heads heads,
        Rope rope,
        LayerWindows windows,
        float rmsNormEps,
        Activation activation,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "phi3";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public Phi3Config miniature() {
        Sizes few = sizes.miniature();
        return new Phi3Config(
                few,
                heads.miniature(),
                rope.withDimensions(heads.miniature().headDim()),
                windows.withLayers(few.layers()),
                rmsNormEps,
                activation,
                tiedHead);
    }

    @Override
    public Phi3Config withLayers(int layers) {
        return new Phi3Config(
                sizes.withLayers(layers), heads, rope, windows.withLayers(layers), rmsNormEps, activation, tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return Phi3Program.of(this, contextLength);
    }
}
