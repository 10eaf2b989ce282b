package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.llama.RopeScaling;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/** The shapes of published models by name: with {@link RandomCheckpoint} they can be measured without a download. */
public final class ModelPresets {
    private static final Map<String, ModelConfig> PRESETS = presets();

    private ModelPresets() {}

    public static Optional<ModelConfig> named(String name) {
        return Optional.ofNullable(PRESETS.get(name));
    }

    /** Smallest model first. */
    public static List<String> names() {
        return List.copyOf(PRESETS.keySet());
    }

    private static Map<String, ModelConfig> presets() {
        SequencedMap<String, ModelConfig> presets = new LinkedHashMap<>();
        presets.put("stories15M", stories15M());
        presets.put("gpt2-124M", new Gpt2Config(50_257, 1024, 768, 3072, 12, 12, 1e-5f, true, true));
        presets.put("tinyllama-1.1B", tinyLlama());
        presets.put("llama2-7B", llama2(4096, 11_008, 32, 32, 32));
        presets.put("llama2-70B", llama2(8192, 28_672, 80, 64, 8));
        return presets;
    }

    private static LlamaConfig stories15M() {
        return new LlamaConfig(
                32_000, 256, 288, 768, 6, 6, 6, 48, 1e-5f, 10_000, new RopeScaling.None(), false, false, true);
    }

    private static LlamaConfig tinyLlama() {
        return new LlamaConfig(
                32_000, 2048, 2048, 5632, 22, 32, 4, 64, 1e-5f, 10_000, new RopeScaling.None(), false, false, false);
    }

    private static LlamaConfig llama2(int hiddenSize, int intermediateSize, int layers, int heads, int kvHeads) {
        return new LlamaConfig(
                32_000,
                4096,
                hiddenSize,
                intermediateSize,
                layers,
                heads,
                kvHeads,
                128,
                1e-5f,
                10_000,
                new RopeScaling.None(),
                false,
                false,
                false);
    }
}
