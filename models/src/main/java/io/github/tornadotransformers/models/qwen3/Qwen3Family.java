package io.github.tornadotransformers.models.qwen3;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.LayerWindows;
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
 * Qwen3 checkpoints as Hugging Face's {@code Qwen3ForCausalLM} writes them. Sizes are required; what is absent otherwise has
 * that class's default.
 */
@MetaInfServices(ModelFamily.class)
public final class Qwen3Family implements ModelFamily<Qwen3Config> {
    private static final int DEFAULT_CONTEXT = 32_768;
    private static final int DEFAULT_WINDOW = 4096;
    private static final int DEFAULT_FULL_LAYERS = 28;
    private static final int DEFAULT_HEAD_DIM = 128;
    private static final double DEFAULT_THETA = 10_000;
    private static final float DEFAULT_EPSILON = 1e-6f;

    @Override
    public String modelType() {
        return Qwen3Config.MODEL_TYPE;
    }

    @Override
    public Class<Qwen3Config> configType() {
        return Qwen3Config.class;
    }

    @Override
    public Qwen3Config parse(ConfigReader config) {
        CommonFields.refuseWhatIsNotImplemented(config);
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parseOr(config, DEFAULT_HEAD_DIM);
        return new Qwen3Config(
                sizes,
                heads,
                new RopeFields(config, sizes.contextLength(), heads.headDim()).parse(DEFAULT_THETA),
                LayerWindows.parseUsed(config, sizes.layers(), DEFAULT_WINDOW, DEFAULT_FULL_LAYERS),
                CommonFields.epsilon(config, DEFAULT_EPSILON),
                CommonFields.activation(config, "hidden_act", Activation.SILU),
                config.flagOr("attention_bias", false),
                CommonFields.tiedHead(config, false));
    }

    @Override
    public void describe(Qwen3Config config, ObjectNode json) {
        json.putArray("architectures").add("Qwen3ForCausalLM");
        config.sizes().describe(json);
        config.heads().describe(json);
        RopeFields.describe(config.rope(), config.heads().headDim(), json);
        config.windows().describeUsed(json);
        json.put("hidden_act", CommonFields.name(config.activation()));
        json.put("attention_bias", config.attentionBias());
        CommonFields.describe(config.rmsNormEps(), config.tiedHead(), json);
    }

    @Override
    public List<Qwen3Config> examples() {
        Rope yarn = new Rope(1_000_000, 10, new RopeScaling.Yarn(4, 32, 1, 32, true, 1.138_629_436_111_989));
        return List.of(
                new Qwen3Config(
                        new Sizes(139, 67, 38, 66, 3),
                        new Heads(6, 2, 10),
                        yarn,
                        LayerWindows.of(5, 3, layer -> layer >= 1),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        true,
                        true),
                new Qwen3Config(
                        new Sizes(61, 48, 132, 260, 2),
                        new Heads(3, 3, 134),
                        new Rope(DEFAULT_THETA, 134, new RopeScaling.None()),
                        LayerWindows.none(2),
                        1e-5f,
                        Activation.SILU,
                        false,
                        false));
    }

    @Override
    public Map<String, Qwen3Config> published() {
        return Map.of(
                "qwen3-0.6B",
                new Qwen3Config(
                        new Sizes(151_936, 40_960, 1024, 3072, 28),
                        new Heads(16, 8, 128),
                        new Rope(1_000_000, 128, new RopeScaling.None()),
                        LayerWindows.none(28),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        false,
                        true));
    }
}
