package io.github.tornadotransformers.models.llama;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelFamily;
import java.util.Set;

/**
 * Llama checkpoints as Hugging Face's {@code LlamaForCausalLM} writes them. Sizes are required; what is absent otherwise has
 * that class's default. {@code pretraining_tp} is not read: it cuts sums without changing what they mean.
 */
public final class LlamaFamily implements ModelFamily<LlamaConfig> {
    private static final Set<String> SILU = Set.of("silu", "swish");
    private static final float DEFAULT_EPSILON = 1e-6f;
    private static final int DEFAULT_CONTEXT = 2048;
    private static final int MAX_LAYERS = 1 << 16;
    private static final int MAX_HEAD_DIM = 1 << 16;

    @Override
    public String modelType() {
        return LlamaConfig.MODEL_TYPE;
    }

    @Override
    public Class<LlamaConfig> configType() {
        return LlamaConfig.class;
    }

    @Override
    public String tensorPrefix() {
        return "model.";
    }

    @Override
    public boolean ignores(String tensorName) {
        return tensorName.endsWith("rotary_emb.inv_freq") || tensorName.equals(HEAD);
    }

    @Override
    public LlamaConfig parse(ConfigReader config) {
        refuseWhatIsNotImplemented(config);
        int hiddenSize = config.count("hidden_size", Integer.MAX_VALUE);
        int heads = config.count("num_attention_heads", Integer.MAX_VALUE);
        int kvHeads = config.countOr("num_key_value_heads", Integer.MAX_VALUE, heads);
        if (heads % kvHeads != 0) {
            throw config.contradiction(
                    "num_attention_heads " + heads + " is not divisible by num_key_value_heads " + kvHeads);
        }
        int headDim = headDim(config, hiddenSize, heads);
        if ((heads + 2L * kvHeads) * headDim > Integer.MAX_VALUE) {
            throw config.contradiction("(num_attention_heads " + heads + " + 2 * num_key_value_heads " + kvHeads
                    + ") * head dimension " + headDim + " is more than " + Integer.MAX_VALUE);
        }
        RopeParameters rope = RopeParameters.parse(config);
        return new LlamaConfig(
                config.count("vocab_size", Integer.MAX_VALUE),
                config.countOr("max_position_embeddings", Integer.MAX_VALUE, DEFAULT_CONTEXT),
                hiddenSize,
                config.count("intermediate_size", Integer.MAX_VALUE / 2),
                config.count("num_hidden_layers", MAX_LAYERS),
                heads,
                kvHeads,
                headDim,
                config.epsilonOr("rms_norm_eps", DEFAULT_EPSILON),
                rope.theta(),
                rope.scaling(),
                config.flagOr("attention_bias", false),
                config.flagOr("mlp_bias", false),
                config.flagOr("tie_word_embeddings", false));
    }

    private static void refuseWhatIsNotImplemented(ConfigReader config) {
        config.requireAbsent("quantization_config");
        if (config.flagOr("use_sliding_window", true)) {
            config.requireAbsent("sliding_window");
        }
        config.requireNumber("partial_rotary_factor", 1);
        config.requireNumber("attention_multiplier", 1);
        config.requireNumber("embedding_multiplier", 1);
        config.requireNumber("residual_multiplier", 1);
        config.requireNumber("logits_scaling", 1);
        config.requireAbsent("attn_logit_softcapping");
        config.requireAbsent("final_logit_softcapping");
        config.requireFlag("use_qk_norm", false);
        config.requireFlag("add_cross_attention", false);
        if (!SILU.contains(config.text("hidden_act").orElse("silu"))) {
            throw config.notImplemented("hidden_act", "silu, swish");
        }
    }

    private static int headDim(ConfigReader config, int hiddenSize, int heads) {
        if (!config.has("head_dim") && hiddenSize % heads != 0) {
            throw config.contradiction("hidden_size " + hiddenSize + " is not divisible by num_attention_heads " + heads
                    + ", and there is no head_dim");
        }
        int headDim = config.countOr("head_dim", MAX_HEAD_DIM, hiddenSize / heads);
        if (headDim % 2 != 0 || headDim > MAX_HEAD_DIM) {
            throw config.contradiction("the head dimension is " + headDim
                    + " (head_dim, or hidden_size / num_attention_heads), expected an even number up to "
                    + MAX_HEAD_DIM);
        }
        return headDim;
    }

    @Override
    public void describe(LlamaConfig config, ObjectNode json) {
        json.putArray("architectures").add("LlamaForCausalLM");
        json.put("hidden_act", "silu");
        json.put("vocab_size", config.vocabSize());
        json.put("max_position_embeddings", config.contextLength());
        json.put("hidden_size", config.hiddenSize());
        json.put("intermediate_size", config.intermediateSize());
        json.put("num_hidden_layers", config.layers());
        json.put("num_attention_heads", config.heads());
        json.put("num_key_value_heads", config.kvHeads());
        json.put("head_dim", config.headDim());
        json.put("rms_norm_eps", config.rmsNormEps());
        new RopeParameters(config.ropeTheta(), config.ropeScaling()).describe(json);
        json.put("attention_bias", config.attentionBias());
        json.put("mlp_bias", config.mlpBias());
        json.put("tie_word_embeddings", config.tiedHead());
    }
}
