package io.github.tornadotransformers.models.qwen2;

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
 * Qwen2 and Qwen2.5 checkpoints as Hugging Face's {@code Qwen2ForCausalLM} writes them. Sizes are required; what is absent
 * otherwise has that class's default.
 */
@MetaInfServices(ModelFamily.class)
public final class Qwen2Family implements ModelFamily<Qwen2Config> {
    private static final int DEFAULT_CONTEXT = 32_768;
    private static final int DEFAULT_WINDOW = 4096;
    private static final int DEFAULT_FULL_LAYERS = 28;
    private static final double DEFAULT_THETA = 10_000;
    private static final float DEFAULT_EPSILON = 1e-6f;

    @Override
    public String modelType() {
        return Qwen2Config.MODEL_TYPE;
    }

    @Override
    public Class<Qwen2Config> configType() {
        return Qwen2Config.class;
    }

    @Override
    public Qwen2Config parse(ConfigReader config) {
        CommonFields.refuseWhatIsNotImplemented(config);
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parse(config, sizes.hiddenSize());
        return new Qwen2Config(
                sizes,
                heads,
                new RopeFields(config, sizes.contextLength(), heads.headDim()).parse(DEFAULT_THETA),
                LayerWindows.parseUsed(config, sizes.layers(), DEFAULT_WINDOW, DEFAULT_FULL_LAYERS),
                CommonFields.epsilon(config, DEFAULT_EPSILON),
                CommonFields.activation(config, "hidden_act", Activation.SILU),
                CommonFields.tiedHead(config, false));
    }

    @Override
    public void describe(Qwen2Config config, ObjectNode json) {
        json.putArray("architectures").add("Qwen2ForCausalLM");
        config.sizes().describe(json);
        config.heads().describe(json);
        RopeFields.describe(config.rope(), config.heads().headDim(), json);
        config.windows().describeUsed(json);
        json.put("hidden_act", CommonFields.name(config.activation()));
        CommonFields.describe(config.rmsNormEps(), config.tiedHead(), json);
    }

    @Override
    public List<Qwen2Config> examples() {
        Rope yarn = new Rope(1_000_000, 10, new RopeScaling.Yarn(4, 32, 1, 32, true, 1.138_629_436_111_989));
        return List.of(
                new Qwen2Config(
                        new Sizes(139, 67, 38, 66, 3),
                        new Heads(6, 2, 10),
                        yarn,
                        LayerWindows.of(5, 3, layer -> layer >= 1),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        true),
                new Qwen2Config(
                        new Sizes(61, 48, 132, 260, 2),
                        new Heads(3, 3, 44),
                        new Rope(DEFAULT_THETA, 44, new RopeScaling.None()),
                        LayerWindows.none(2),
                        1e-5f,
                        Activation.SILU,
                        false));
    }

    @Override
    public Map<String, Qwen2Config> published() {
        Rope rope = new Rope(1_000_000, 64, new RopeScaling.None());
        return Map.of(
                "qwen2.5-0.5B",
                new Qwen2Config(
                        new Sizes(151_936, 32_768, 896, 4864, 24),
                        new Heads(14, 2, 64),
                        rope,
                        LayerWindows.none(24),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        true));
    }
}
