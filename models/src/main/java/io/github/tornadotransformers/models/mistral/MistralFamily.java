package io.github.tornadotransformers.models.mistral;

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
 * Mistral checkpoints as Hugging Face's {@code MistralForCausalLM} writes them. Sizes are required; what is absent
 * otherwise has that class's default.
 */
@MetaInfServices(ModelFamily.class)
public final class MistralFamily implements ModelFamily<MistralConfig> {
    private static final int DEFAULT_CONTEXT = 131_072;
    private static final int DEFAULT_WINDOW = 4096;
    private static final double DEFAULT_THETA = 10_000;
    private static final float DEFAULT_EPSILON = 1e-6f;

    @Override
    public String modelType() {
        return MistralConfig.MODEL_TYPE;
    }

    @Override
    public Class<MistralConfig> configType() {
        return MistralConfig.class;
    }

    @Override
    public MistralConfig parse(ConfigReader config) {
        CommonFields.refuseWhatIsNotImplemented(config);
        config.requireAbsent("layer_types");
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parse(config, sizes.hiddenSize());
        return new MistralConfig(
                sizes,
                heads,
                new RopeFields(config, sizes.contextLength(), heads.headDim()).parse(DEFAULT_THETA),
                LayerWindows.parse(config, sizes.layers(), DEFAULT_WINDOW, _ -> true),
                CommonFields.epsilon(config, DEFAULT_EPSILON),
                CommonFields.activation(config, "hidden_act", Activation.SILU),
                CommonFields.tiedHead(config, false));
    }

    @Override
    public void describe(MistralConfig config, ObjectNode json) {
        json.putArray("architectures").add("MistralForCausalLM");
        config.sizes().describe(json);
        config.heads().describe(json);
        RopeFields.describe(config.rope(), config.heads().headDim(), json);
        config.windows().describeWindow(json);
        json.put("hidden_act", CommonFields.name(config.activation()));
        CommonFields.describe(config.rmsNormEps(), config.tiedHead(), json);
    }

    @Override
    public List<MistralConfig> examples() {
        Rope yarn = new Rope(1_000_000, 10, new RopeScaling.Yarn(4, 32, 1, 32, true, 1.138_629_436_111_989));
        return List.of(
                new MistralConfig(
                        new Sizes(139, 67, 38, 66, 3),
                        new Heads(6, 2, 10),
                        yarn,
                        LayerWindows.of(5, 3, _ -> true),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        true),
                new MistralConfig(
                        new Sizes(61, 48, 132, 260, 2),
                        new Heads(3, 3, 44),
                        new Rope(DEFAULT_THETA, 44, new RopeScaling.None()),
                        LayerWindows.none(2),
                        1e-5f,
                        Activation.SILU,
                        false));
    }

    @Override
    public Map<String, MistralConfig> published() {
        return Map.of(
                "mistral-7B",
                new MistralConfig(
                        new Sizes(32_768, 32_768, 4096, 14_336, 32),
                        new Heads(32, 8, 128),
                        new Rope(1_000_000, 128, new RopeScaling.None()),
                        LayerWindows.none(32),
                        1e-5f,
                        Activation.SILU,
                        false));
    }
}
