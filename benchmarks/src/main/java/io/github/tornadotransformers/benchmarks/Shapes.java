package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.llama.RopeScaling;
import java.util.Map;
import java.util.stream.Stream;

/** The shapes of models by name; benchmarks fill them with random weights. */
final class Shapes {
    /** What is measured unless a call says otherwise. */
    static final String[] USUAL = {"stories15M", "gpt2-124M", "tinyllama-1.1B"};

    /** To see that the benchmarks themselves work, in no time. */
    private static final Map<String, ModelConfig> TINY = Map.of(
            "tiny-gpt2",
            new Gpt2Config(131, 40, 36, 150, 2, 3, 1e-5f, true, true),
            "tiny-llama",
            new LlamaConfig(139, 40, 38, 150, 2, 6, 2, 10, 1e-6f, 10_000, new RopeScaling.None(), false, false, false));

    private Shapes() {}

    /** @throws IllegalArgumentException if there is none of that name */
    static ModelConfig named(String name) {
        return ModelPresets.named(name).orElseGet(() -> {
            ModelConfig tiny = TINY.get(name);
            if (tiny == null) {
                throw new IllegalArgumentException("there is no model '" + name + "', expected one of "
                        + String.join(
                                ", ",
                                Stream.concat(
                                                ModelPresets.names().stream(),
                                                TINY.keySet().stream().sorted())
                                        .toList()));
            }
            return tiny;
        });
    }

    /** The same model with so many layers at most. */
    static ModelConfig cut(ModelConfig config, int layers) {
        int kept = Math.min(layers, config.layers());
        return switch (config) {
            case Gpt2Config gpt2 ->
                new Gpt2Config(
                        gpt2.vocabSize(),
                        gpt2.contextLength(),
                        gpt2.hiddenSize(),
                        gpt2.intermediateSize(),
                        kept,
                        gpt2.heads(),
                        gpt2.layerNormEps(),
                        gpt2.scalesAttention(),
                        gpt2.tiedHead());
            case LlamaConfig llama ->
                new LlamaConfig(
                        llama.vocabSize(),
                        llama.contextLength(),
                        llama.hiddenSize(),
                        llama.intermediateSize(),
                        kept,
                        llama.heads(),
                        llama.kvHeads(),
                        llama.headDim(),
                        llama.rmsNormEps(),
                        llama.ropeTheta(),
                        llama.ropeScaling(),
                        llama.attentionBias(),
                        llama.mlpBias(),
                        llama.tiedHead());
            default -> throw new IllegalArgumentException("cannot shorten a " + config.modelType());
        };
    }
}
