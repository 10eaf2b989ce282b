package io.github.tornadotransformers.models.mistral;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.LayerWindows;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;

/**
 * The hyperparameters of Mistral 7B and its successors; Hugging Face's names in brackets where they differ.
 *
 * @param windows all layers have a sliding window, or none ({@code sliding_window})
 * @param activation of the MLP's gate ({@code hidden_act})
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record MistralConfig(
        Sizes sizes,
        Heads heads,
        Rope rope,
        LayerWindows windows,
        float rmsNormEps,
        Activation activation,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "mistral";

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public MistralConfig miniature() {
        Sizes few = sizes.miniature();
        return new MistralConfig(
                few,
                heads.miniature(),
                rope.withDimensions(heads.miniature().headDim()),
                windows.withLayers(few.layers()),
                rmsNormEps,
                activation,
                tiedHead);
    }

    @Override
    public MistralConfig withLayers(int layers) {
        return new MistralConfig(
                sizes.withLayers(layers), heads, rope, windows.withLayers(layers), rmsNormEps, activation, tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return MistralProgram.of(this, contextLength);
    }
}
