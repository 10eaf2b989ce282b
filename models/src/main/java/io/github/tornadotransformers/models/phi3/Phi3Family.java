package io.github.tornadotransformers.models.phi3;

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
 * Phi-3 and Phi-4-mini checkpoints as Hugging Face's {@code Phi3ForCausalLM} writes them. Sizes are required; what is absent
 * otherwise has that class's default.
 */
@MetaInfServices(ModelFamily.class)
public final class Phi3Family implements ModelFamily<Phi3Config> {
    private static final int DEFAULT_CONTEXT = 4096;
    private static final double DEFAULT_THETA = 10_000;
    private static final float DEFAULT_EPSILON = 1e-5f;

    @Override
    public String modelType() {
        return Phi3Config.MODEL_TYPE;
    }

    @Override
    public Class<Phi3Config> configType() {
        return Phi3Config.class;
    }

    @Override
    public Phi3Config parse(ConfigReader config) {
        CommonFields.refuseWhatIsNotImplemented(config);
        config.requireAbsent("layer_types");
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parse(config, sizes.hiddenSize());
        return new Phi3Config(
                sizes,
                heads,
                new RopeFields(config, sizes.contextLength(), heads.headDim())
                        .allowPartial()
                        .parse(DEFAULT_THETA),
                config.has("sliding_window")
                        ? LayerWindows.parse(config, sizes.layers(), 1, _ -> true)
                        : LayerWindows.none(sizes.layers()),
                CommonFields.epsilon(config, DEFAULT_EPSILON),
                CommonFields.activation(config, "hidden_act", Activation.SILU),
                CommonFields.tiedHead(config, false));
    }

    @Override
    public void describe(Phi3Config config, ObjectNode json) {
        json.putArray("architectures").add("Phi3ForCausalLM");
        config.sizes().describe(json);
        config.heads().describe(json);
        RopeFields.describe(config.rope(), config.heads().headDim(), json);
        config.windows().describeWindow(json);
        json.put("hidden_act", CommonFields.name(config.activation()));
        CommonFields.describe(config.rmsNormEps(), config.tiedHead(), json);
    }

    @Override
    public List<Phi3Config> examples() {
        RopeScaling longRope =
                new RopeScaling.LongRope(List.of(1.0, 1.1, 1.5), List.of(1.0, 2.5, 6.0), 20, 1.190_238_071_190_357);
        return List.of(
                new Phi3Config(
                        new Sizes(139, 67, 38, 66, 3),
                        new Heads(6, 2, 10),
                        new Rope(DEFAULT_THETA, 6, longRope),
                        LayerWindows.of(5, 3, _ -> true),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        true),
                new Phi3Config(
                        new Sizes(61, 48, 132, 260, 2),
                        new Heads(3, 3, 44),
                        new Rope(DEFAULT_THETA, 44, new RopeScaling.None()),
                        LayerWindows.none(2),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        false));
    }

    @Override
    public Map<String, Phi3Config> published() {
        return Map.of(
                "phi3-mini",
                new Phi3Config(
                        new Sizes(32_064, 4096, 3072, 8192, 32),
                        new Heads(32, 32, 96),
                        new Rope(DEFAULT_THETA, 96, new RopeScaling.None()),
                        LayerWindows.of(2047, 32, _ -> true),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        false));
    }
}
