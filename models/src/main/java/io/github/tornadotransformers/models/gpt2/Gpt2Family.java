package io.github.tornadotransformers.models.gpt2;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Sizes;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.kohsuke.MetaInfServices;

/**
 * GPT-2 checkpoints as Hugging Face's {@code GPT2LMHeadModel} writes them. Sizes are required; what is absent otherwise has
 * that class's default. Training-only fields (dropout, initializer) are not read, nor is {@code reorder_and_upcast_attn}:
 * attention is float32 here anyway.
 */
@MetaInfServices(ModelFamily.class)
public final class Gpt2Family implements ModelFamily<Gpt2Config> {
    private static final Set<String> GELU_TANH = Set.of("gelu_new", "gelu_pytorch_tanh");
    private static final float DEFAULT_EPSILON = 1e-5f;

    @Override
    public String modelType() {
        return Gpt2Config.MODEL_TYPE;
    }

    @Override
    public Class<Gpt2Config> configType() {
        return Gpt2Config.class;
    }

    @Override
    public String tensorPrefix() {
        return "transformer.";
    }

    @Override
    public boolean ignores(String tensorName) {
        return tensorName.endsWith(".attn.bias") || tensorName.endsWith(".attn.masked_bias") || tensorName.equals(HEAD);
    }

    @Override
    public Gpt2Config parse(ConfigReader config) {
        config.requireAbsent("quantization_config");
        config.requireFlag("scale_attn_by_inverse_layer_idx", false);
        config.requireFlag("add_cross_attention", false);
        if (!GELU_TANH.contains(config.text("activation_function").orElse("gelu_new"))) {
            throw config.notImplemented("activation_function", "gelu_new, gelu_pytorch_tanh");
        }
        int hiddenSize = config.count("n_embd", Integer.MAX_VALUE / 4);
        int heads = config.count("n_head", hiddenSize);
        if (hiddenSize % heads != 0) {
            throw config.contradiction("n_embd " + hiddenSize + " is not divisible by n_head " + heads);
        }
        Sizes sizes = new Sizes(
                config.count("vocab_size", Integer.MAX_VALUE),
                config.count("n_positions", Integer.MAX_VALUE),
                hiddenSize,
                config.countOr("n_inner", Integer.MAX_VALUE, 4 * hiddenSize),
                config.count("n_layer", Sizes.MAX_LAYERS));
        return new Gpt2Config(
                sizes,
                heads,
                config.epsilonOr("layer_norm_epsilon", DEFAULT_EPSILON),
                config.flagOr("scale_attn_weights", true),
                config.flagOr("tie_word_embeddings", true));
    }

    @Override
    public void describe(Gpt2Config config, ObjectNode json) {
        json.putArray("architectures").add("GPT2LMHeadModel");
        json.put("activation_function", "gelu_new");
        json.put("vocab_size", config.vocabSize());
        json.put("n_positions", config.contextLength());
        json.put("n_embd", config.sizes().hiddenSize());
        json.put("n_inner", config.sizes().intermediateSize());
        json.put("n_layer", config.layers());
        json.put("n_head", config.headCount());
        json.put("layer_norm_epsilon", config.layerNormEps());
        json.put("scale_attn_weights", config.scalesAttention());
        json.put("tie_word_embeddings", config.tiedHead());
    }

    @Override
    public List<Gpt2Config> examples() {
        return List.of(
                new Gpt2Config(new Sizes(131, 67, 36, 150, 3), 3, DEFAULT_EPSILON, true, true),
                new Gpt2Config(new Sizes(97, 64, 130, 257, 2), 5, 1e-3f, false, false));
    }

    @Override
    public List<Gpt2Config> largerExamples() {
        return List.of(new Gpt2Config(new Sizes(257, 160, 768, 3072, 1), 12, DEFAULT_EPSILON, true, true));
    }

    @Override
    public Map<String, Gpt2Config> published() {
        return Map.of(
                "gpt2-124M", new Gpt2Config(new Sizes(50_257, 1024, 768, 3072, 12), 12, DEFAULT_EPSILON, true, true));
    }
}
