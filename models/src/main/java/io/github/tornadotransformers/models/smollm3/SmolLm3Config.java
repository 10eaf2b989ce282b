package io.github.tornadotransformers.models.smollm3;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.LayerWindows;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The hyperparameters of SmolLM3; Hugging Face's names in brackets where they differ.
 *
 * @param rotates whether each layer has rotary embedding ({@code no_rope_layers}, where 1 is a layer that has it)
 * @param windows layers with a sliding window ({@code use_sliding_window}, {@code sliding_window}, {@code layer_types})
 * @param activation of the MLP's gate ({@code hidden_act})
 * @param attentionBias whether q, k, v and o have a bias
 * @param mlpBias whether gate, up and down have a bias
 * @param tiedHead whether the token embedding serves as the head ({@code tie_word_embeddings})
 */
public record SmolLm3Config(
        Sizes sizes,
        Heads heads,
        Rope rope,
        List<Boolean> rotates,
        LayerWindows windows,
        float rmsNormEps,
        Activation activation,
        boolean attentionBias,
        boolean mlpBias,
        boolean tiedHead)
        implements ModelConfig {
    public static final String MODEL_TYPE = "smollm3";

    public SmolLm3Config {
        rotates = List.copyOf(rotates);
    }

    private List<Boolean> repeated(int layers) {
        return IntStream.range(0, layers)
                .mapToObj(layer -> rotates.get(layer % rotates.size()))
                .toList();
    }

    @Override
    public String modelType() {
        return MODEL_TYPE;
    }

    @Override
    public SmolLm3Config miniature() {
        Sizes few = sizes.miniature();
        return new SmolLm3Config(
                few,
                heads.miniature(),
                rope.withDimensions(heads.miniature().headDim()),
                List.of(true),
                windows.withLayers(few.layers()),
                rmsNormEps,
                activation,
                attentionBias,
                mlpBias,
                tiedHead);
    }

    @Override
    public SmolLm3Config withLayers(int layers) {
        return new SmolLm3Config(
                sizes.withLayers(layers),
                heads,
                rope,
                repeated(layers),
                windows.withLayers(layers),
                rmsNormEps,
                activation,
                attentionBias,
                mlpBias,
                tiedHead);
    }

    @Override
    public Program program(int contextLength) {
        return SmolLm3Program.of(this, contextLength);
    }
}
