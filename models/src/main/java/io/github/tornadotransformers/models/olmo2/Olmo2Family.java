package io.github.tornadotransformers.models.olmo2;

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
 * OLMo 2 checkpoints as Hugging Face's {@code Olmo2ForCausalLM} writes them. Sizes are required; what is absent otherwise has
 * that class's default.
 */
@MetaInfServices(ModelFamily.class)
public final class Olmo2Family implements ModelFamily<Olmo2Config> {
    private static final int DEFAULT_CONTEXT = 2048;
    private static final double DEFAULT_THETA = 10_000;
    private static final float DEFAULT_EPSILON = 1e-5f;

    @Override
    public String modelType() {
        return Olmo2Config.MODEL_TYPE;
    }

    @Override
    public Class<Olmo2Config> configType() {
        return Olmo2Config.class;
    }

    @Override
    public Olmo2Config parse(ConfigReader config) {
        CommonFields.refuseWhatIsNotImplemented(config);
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parse(config, sizes.hiddenSize());
        return new Olmo2Config(
                sizes,
                heads,
                new RopeFields(config, sizes.contextLength(), heads.headDim()).parse(DEFAULT_THETA),
                CommonFields.epsilon(config, DEFAULT_EPSILON),
                CommonFields.activation(config, "hidden_act", Activation.SILU),
                config.flagOr("attention_bias", false),
                CommonFields.tiedHead(config, false));
    }

    @Override
    public void describe(Olmo2Config config, ObjectNode json) {
        json.putArray("architectures").add("Olmo2ForCausalLM");
        config.sizes().describe(json);
        config.heads().describe(json);
        RopeFields.describe(config.rope(), config.heads().headDim(), json);
        json.put("hidden_act", CommonFields.name(config.activation()));
        json.put("attention_bias", config.attentionBias());
        CommonFields.describe(config.rmsNormEps(), config.tiedHead(), json);
    }

    @Override
    public List<Olmo2Config> examples() {
        return List.of(
                new Olmo2Config(
                        new Sizes(139, 67, 38, 66, 3),
                        new Heads(6, 2, 10),
                        new Rope(500_000, 10, new RopeScaling.None()),
                        1e-6f,
                        Activation.SILU,
                        true,
                        true),
                new Olmo2Config(
                        new Sizes(61, 48, 132, 260, 2),
                        new Heads(3, 3, 44),
                        new Rope(DEFAULT_THETA, 44, new RopeScaling.Linear(2)),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        false,
                        false));
    }

    @Override
    public Map<String, Olmo2Config> published() {
        return Map.of(
                "olmo2-1B",
                new Olmo2Config(
                        new Sizes(100_352, 4096, 2048, 8192, 16),
                        new Heads(16, 16, 128),
                        new Rope(500_000, 128, new RopeScaling.None()),
                        1e-6f,
                        Activation.SILU,
                        false,
                        false));
    }
}
