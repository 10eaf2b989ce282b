package io.github.tornadotransformers.models.llama;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeFields;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.kohsuke.MetaInfServices;

/**
 * Llama checkpoints as Hugging Face's {@code LlamaForCausalLM} writes them. Sizes are required; what is absent otherwise has
 * that class's default. {@code pretraining_tp} is not read: it cuts sums without changing what they mean.
 */
@MetaInfServices(ModelFamily.class)
public final class LlamaFamily implements ModelFamily<LlamaConfig> {
    private static final Set<String> SILU = Set.of("silu", "swish");
    private static final float DEFAULT_EPSILON = 1e-6f;
    private static final int DEFAULT_CONTEXT = 2048;
    private static final double DEFAULT_THETA = 10_000;

    @Override
    public String modelType() {
        return LlamaConfig.MODEL_TYPE;
    }

    @Override
    public Class<LlamaConfig> configType() {
        return LlamaConfig.class;
    }

    @Override
    public LlamaConfig parse(ConfigReader config) {
        refuseWhatIsNotImplemented(config);
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parse(config, sizes.hiddenSize());
        return new LlamaConfig(
                sizes,
                heads,
                new RopeFields(config, sizes.contextLength(), heads.headDim()).parse(DEFAULT_THETA),
                config.epsilonOr("rms_norm_eps", DEFAULT_EPSILON),
                config.flagOr("attention_bias", false),
                config.flagOr("mlp_bias", false),
                config.flagOr("tie_word_embeddings", false));
    }

    private static void refuseWhatIsNotImplemented(ConfigReader config) {
        config.requireAbsent("quantization_config");
        if (config.flagOr("use_sliding_window", true)) {
            config.requireAbsent("sliding_window");
        }
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

    @Override
    public void describe(LlamaConfig config, ObjectNode json) {
        json.putArray("architectures").add("LlamaForCausalLM");
        json.put("hidden_act", "silu");
        config.sizes().describe(json);
        config.heads().describe(json);
        json.put("rms_norm_eps", config.rmsNormEps());
        RopeFields.describe(config.rope(), config.heads().headDim(), json);
        json.put("attention_bias", config.attentionBias());
        json.put("mlp_bias", config.mlpBias());
        json.put("tie_word_embeddings", config.tiedHead());
    }

    @Override
    public List<LlamaConfig> examples() {
        RopeScaling llama3 = new RopeScaling.Llama3(8, 1, 4, 64);
        Rope plain = new Rope(DEFAULT_THETA, 44, new RopeScaling.None());
        return List.of(
                new LlamaConfig(
                        new Sizes(139, 67, 38, 67, 3),
                        new Heads(6, 2, 10),
                        new Rope(500_000, 10, llama3),
                        DEFAULT_EPSILON,
                        true,
                        true,
                        true),
                new LlamaConfig(
                        new Sizes(61, 48, 132, 259, 2), new Heads(3, 3, 44), plain, 1e-5f, false, false, false));
    }

    @Override
    public List<LlamaConfig> largerExamples() {
        Rope odd = new Rope(DEFAULT_THETA, 10, new RopeScaling.None());
        Rope wide = new Rope(DEFAULT_THETA, 64, new RopeScaling.None());
        return List.of(
                new LlamaConfig(
                        new Sizes(263, 160, 130, 67, 2), new Heads(3, 1, 10), odd, DEFAULT_EPSILON, true, false, false),
                new LlamaConfig(
                        new Sizes(131, 64, 2048, 5632, 1), new Heads(32, 4, 64), wide, 1e-5f, false, false, true));
    }

    @Override
    public Map<String, LlamaConfig> published() {
        return Map.of(
                "stories15M", shape(new Sizes(32_000, 256, 288, 768, 6), new Heads(6, 6, 48), true),
                "tinyllama-1.1B", shape(new Sizes(32_000, 2048, 2048, 5632, 22), new Heads(32, 4, 64), false),
                "llama2-7B", shape(new Sizes(32_000, 4096, 4096, 11_008, 32), new Heads(32, 32, 128), false),
                "llama2-70B", shape(new Sizes(32_000, 4096, 8192, 28_672, 80), new Heads(64, 8, 128), false));
    }

    private static LlamaConfig shape(Sizes sizes, Heads heads, boolean tiedHead) {
        Rope rope = new Rope(DEFAULT_THETA, heads.headDim(), new RopeScaling.None());
        return new LlamaConfig(sizes, heads, rope, 1e-5f, false, false, tiedHead);
    }
}
