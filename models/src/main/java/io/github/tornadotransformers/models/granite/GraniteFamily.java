package io.github.tornadotransformers.models.granite;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.decoder.CommonFields;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeFields;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.util.List;
import java.util.Map;
import org.kohsuke.MetaInfServices;

/**
 * Granite checkpoints as Hugging Face's {@code GraniteForCausalLM} writes them. Sizes are required; what is absent otherwise has
 * that class's default.
 */
@MetaInfServices(ModelFamily.class)
public final class GraniteFamily implements ModelFamily<GraniteConfig> {
    private static final int DEFAULT_CONTEXT = 2048;
    private static final double DEFAULT_THETA = 10_000;
    private static final float DEFAULT_EPSILON = 1e-6f;

    @Override
    public String modelType() {
        return GraniteConfig.MODEL_TYPE;
    }

    @Override
    public Class<GraniteConfig> configType() {
        return GraniteConfig.class;
    }

    @Override
    public GraniteConfig parse(ConfigReader config) {
        CommonFields.refuseWhatIsNotImplemented(config);
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parse(config, sizes.hiddenSize());
        return new GraniteConfig(
                sizes,
                heads,
                new RopeFields(config, sizes.contextLength(), heads.headDim()).parse(DEFAULT_THETA),
                CommonFields.epsilon(config, DEFAULT_EPSILON),
                CommonFields.activation(config, "hidden_act", Activation.SILU),
                new GraniteConfig.Multipliers(
                        config.positiveOr("embedding_multiplier", 1),
                        config.positiveOr("attention_multiplier", 1),
                        config.positiveOr("residual_multiplier", 1),
                        config.positiveOr("logits_scaling", 1)),
                config.flagOr("attention_bias", false),
                config.flagOr("mlp_bias", false),
                CommonFields.tiedHead(config, false));
    }

    @Override
    public void describe(GraniteConfig config, ObjectNode json) {
        json.putArray("architectures").add("GraniteForCausalLM");
        config.sizes().describe(json);
        config.heads().describe(json);
        RopeFields.describe(config.rope(), config.heads().headDim(), json);
        json.put("hidden_act", CommonFields.name(config.activation()));
        json.put("embedding_multiplier", config.multipliers().embedding());
        json.put("attention_multiplier", config.multipliers().attention());
        json.put("residual_multiplier", config.multipliers().residual());
        json.put("logits_scaling", config.multipliers().logits());
        json.put("attention_bias", config.attentionBias());
        json.put("mlp_bias", config.mlpBias());
        CommonFields.describe(config.rmsNormEps(), config.tiedHead(), json);
    }

    @Override
    public List<GraniteConfig> examples() {
        return List.of(
                new GraniteConfig(
                        new Sizes(139, 67, 38, 66, 3),
                        new Heads(6, 2, 10),
                        new Rope(DEFAULT_THETA, 10, new RopeScaling.None()),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        new GraniteConfig.Multipliers(12, 0.15, 0.22, 6),
                        true,
                        true,
                        true),
                new GraniteConfig(
                        new Sizes(61, 48, 132, 260, 2),
                        new Heads(3, 3, 44),
                        new Rope(DEFAULT_THETA, 44, new RopeScaling.Linear(2)),
                        1e-5f,
                        Activation.SILU,
                        new GraniteConfig.Multipliers(1, 0.25, 1, 1),
                        false,
                        false,
                        false));
    }

    @Override
    public Map<String, GraniteConfig> published() {
        return Map.of(
                "granite3.1-2B",
                new GraniteConfig(
                        new Sizes(49_155, 131_072, 2048, 8192, 40),
                        new Heads(32, 8, 64),
                        new Rope(5_000_000, 64, new RopeScaling.None()),
                        1e-5f,
                        Activation.SILU,
                        new GraniteConfig.Multipliers(12, 0.015_625, 0.22, 8),
                        false,
                        false,
                        true));
    }
}
