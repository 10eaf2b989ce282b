package io.github.tornadotransformers.models.smollm3;

import com.fasterxml.jackson.databind.node.ArrayNode;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.kohsuke.MetaInfServices;

/**
 * SmolLM3 checkpoints as Hugging Face's {@code SmolLM3ForCausalLM} writes them. Sizes are required; what is absent otherwise has
 * that class's default.
 */
@MetaInfServices(ModelFamily.class)
public final class SmolLm3Family implements ModelFamily<SmolLm3Config> {
    private static final int DEFAULT_CONTEXT = 32_768;
    private static final int DEFAULT_INTERVAL = 4;
    private static final double DEFAULT_THETA = 2_000_000;
    private static final float DEFAULT_EPSILON = 1e-6f;
    private static final String ROTATES = "no_rope_layers";

    @Override
    public String modelType() {
        return SmolLm3Config.MODEL_TYPE;
    }

    @Override
    public Class<SmolLm3Config> configType() {
        return SmolLm3Config.class;
    }

    @Override
    public SmolLm3Config parse(ConfigReader config) {
        CommonFields.refuseWhatIsNotImplemented(config);
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parse(config, sizes.hiddenSize());
        List<Boolean> rotates = rotates(config, sizes.layers());
        LayerWindows windows = config.flagOr("use_sliding_window", false)
                ? LayerWindows.parse(config, sizes.layers(), Integer.MAX_VALUE, layer -> !rotates.get(layer))
                : LayerWindows.none(sizes.layers());
        return new SmolLm3Config(
                sizes,
                heads,
                new RopeFields(config, sizes.contextLength(), heads.headDim()).parse(DEFAULT_THETA),
                rotates,
                windows,
                CommonFields.epsilon(config, DEFAULT_EPSILON),
                CommonFields.activation(config, "hidden_act", Activation.SILU),
                config.flagOr("attention_bias", false),
                config.flagOr("mlp_bias", false),
                CommonFields.tiedHead(config, true));
    }

    private static List<Boolean> rotates(ConfigReader config, int layers) {
        int interval = config.countOr("no_rope_layer_interval", Integer.MAX_VALUE, DEFAULT_INTERVAL);
        List<Integer> stated = config.tokenIds(ROTATES);
        if (config.has(ROTATES) && stated.size() < layers) {
            throw config.contradiction(
                    ROTATES + " has " + stated.size() + " entries, expected one for each of " + layers + " layers");
        }
        List<Boolean> rotates = new ArrayList<>();
        for (int layer = 0; layer < layers; layer++) {
            rotates.add(config.has(ROTATES) ? stated.get(layer) != 0 : (layer + 1) % interval != 0);
        }
        return rotates;
    }

    @Override
    public void describe(SmolLm3Config config, ObjectNode json) {
        json.putArray("architectures").add("SmolLM3ForCausalLM");
        config.sizes().describe(json);
        config.heads().describe(json);
        RopeFields.describe(config.rope(), config.heads().headDim(), json);
        ArrayNode rotates = json.putArray(ROTATES);
        config.rotates().forEach(each -> rotates.add(each ? 1 : 0));
        config.windows().describeUsed(json);
        json.put("hidden_act", CommonFields.name(config.activation()));
        json.put("attention_bias", config.attentionBias());
        json.put("mlp_bias", config.mlpBias());
        CommonFields.describe(config.rmsNormEps(), config.tiedHead(), json);
    }

    @Override
    public List<SmolLm3Config> examples() {
        return List.of(
                new SmolLm3Config(
                        new Sizes(139, 67, 38, 66, 3),
                        new Heads(6, 2, 10),
                        new Rope(DEFAULT_THETA, 10, new RopeScaling.None()),
                        List.of(true, false, true),
                        LayerWindows.of(5, 3, layer -> layer == 1),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        true,
                        true,
                        true),
                new SmolLm3Config(
                        new Sizes(61, 48, 132, 260, 2),
                        new Heads(3, 3, 44),
                        new Rope(10_000, 44, new RopeScaling.Linear(2)),
                        List.of(true, false),
                        LayerWindows.none(2),
                        1e-5f,
                        Activation.SILU,
                        false,
                        false,
                        false));
    }

    @Override
    public Map<String, SmolLm3Config> published() {
        int layers = 36;
        return Map.of(
                "smollm3-3B",
                new SmolLm3Config(
                        new Sizes(128_256, 65_536, 2048, 11_008, layers),
                        new Heads(16, 4, 128),
                        new Rope(5_000_000, 128, new RopeScaling.None()),
                        IntStream.range(0, layers)
                                .mapToObj(layer -> layer % DEFAULT_INTERVAL != DEFAULT_INTERVAL - 1)
                                .toList(),
                        LayerWindows.none(layers),
                        DEFAULT_EPSILON,
                        Activation.SILU,
                        false,
                        false,
                        true));
    }
}
