package io.github.tornadotransformers.models.gemma3;

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
 * Checkpoints of Gemma 3's text models as Hugging Face's {@code Gemma3ForCausalLM} writes them. Sizes are required; what is
 * absent otherwise has that class's default.
 */
@MetaInfServices(ModelFamily.class)
public final class Gemma3Family implements ModelFamily<Gemma3Config> {
    private static final int DEFAULT_CONTEXT = 131_072;
    private static final int DEFAULT_WINDOW = 4096;
    private static final int DEFAULT_HEAD_DIM = 256;
    private static final int DEFAULT_PATTERN = 6;
    private static final double DEFAULT_THETA = 1_000_000;
    private static final double DEFAULT_LOCAL_THETA = 10_000;
    private static final double DEFAULT_SCALAR = 256;
    private static final float DEFAULT_EPSILON = 1e-6f;
    private static final String LOGIT_CAP = "final_logit_softcapping";
    private static final String THETA = "rope_theta";
    private static final String LOCAL_THETA = "rope_local_base_freq";
    private static final String GLOBAL = "full_attention";
    private static final String LOCAL = "sliding_attention";

    @Override
    public String modelType() {
        return Gemma3Config.MODEL_TYPE;
    }

    @Override
    public Class<Gemma3Config> configType() {
        return Gemma3Config.class;
    }

    @Override
    public Gemma3Config parse(ConfigReader config) {
        CommonFields.refuseWhatIsNotImplemented(config);
        config.requireAbsent("attn_logit_softcapping");
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parseOr(config, DEFAULT_HEAD_DIM);
        int pattern = config.countOr("sliding_window_pattern", Integer.MAX_VALUE, DEFAULT_PATTERN);
        double localTheta = config.positiveOr(LOCAL_THETA, DEFAULT_LOCAL_THETA);
        RopeFields ropes = new RopeFields(config, sizes.contextLength(), heads.headDim());
        return new Gemma3Config(
                sizes,
                heads,
                ropes.parseKind(GLOBAL, config.positiveOr(THETA, DEFAULT_THETA))
                        .orElseGet(() -> ropes.parse(DEFAULT_THETA)),
                ropes.parseKind(LOCAL, localTheta)
                        .orElseGet(() -> new Rope(localTheta, heads.headDim(), new RopeScaling.None())),
                LayerWindows.parse(config, sizes.layers(), DEFAULT_WINDOW, layer -> (layer + 1) % pattern != 0),
                CommonFields.epsilon(config, DEFAULT_EPSILON),
                CommonFields.activation(config, "hidden_activation", Activation.GELU_TANH),
                new Gemma3Config.Attention(
                        config.positiveOr("query_pre_attn_scalar", DEFAULT_SCALAR),
                        config.flagOr("attention_bias", false)),
                CommonFields.cap(config, LOGIT_CAP, Float.POSITIVE_INFINITY),
                CommonFields.tiedHead(config, true));
    }

    @Override
    public void describe(Gemma3Config config, ObjectNode json) {
        json.putArray("architectures").add("Gemma3ForCausalLM");
        config.sizes().describe(json);
        config.heads().describe(json);
        ObjectNode ropes = json.putObject("rope_parameters");
        RopeFields.describeKind(config.rope(), ropes.putObject(GLOBAL));
        RopeFields.describeKind(config.localRope(), ropes.putObject(LOCAL));
        config.windows().describe(json);
        json.put("hidden_activation", CommonFields.name(config.activation()));
        json.put("query_pre_attn_scalar", config.attention().queryScalar());
        json.put("attention_bias", config.attention().isBiased());
        CommonFields.describeCap(LOGIT_CAP, config.logitCap(), json);
        CommonFields.describe(config.rmsNormEps(), config.tiedHead(), json);
    }

    @Override
    public List<Gemma3Config> examples() {
        return List.of(
                new Gemma3Config(
                        new Sizes(139, 67, 36, 66, 4),
                        new Heads(6, 2, 10),
                        new Rope(DEFAULT_THETA, 10, new RopeScaling.Linear(8)),
                        new Rope(DEFAULT_LOCAL_THETA, 10, new RopeScaling.None()),
                        LayerWindows.of(5, 4, layer -> layer % 3 != 2),
                        DEFAULT_EPSILON,
                        Activation.GELU_TANH,
                        new Gemma3Config.Attention(7, true),
                        Float.POSITIVE_INFINITY,
                        true),
                new Gemma3Config(
                        new Sizes(61, 48, 132, 260, 2),
                        new Heads(3, 3, 44),
                        new Rope(DEFAULT_THETA, 44, new RopeScaling.None()),
                        new Rope(DEFAULT_LOCAL_THETA, 44, new RopeScaling.None()),
                        LayerWindows.of(130, 2, layer -> layer == 0),
                        1e-5f,
                        Activation.GELU_TANH,
                        new Gemma3Config.Attention(44, false),
                        3f,
                        false));
    }

    @Override
    public Map<String, Gemma3Config> published() {
        return Map.of(
                "gemma3-1B",
                new Gemma3Config(
                        new Sizes(262_144, 32_768, 1152, 6912, 26),
                        new Heads(4, 1, 256),
                        new Rope(DEFAULT_THETA, 256, new RopeScaling.None()),
                        new Rope(DEFAULT_LOCAL_THETA, 256, new RopeScaling.None()),
                        LayerWindows.of(512, 26, layer -> layer % DEFAULT_PATTERN != DEFAULT_PATTERN - 1),
                        DEFAULT_EPSILON,
                        Activation.GELU_TANH,
                        new Gemma3Config.Attention(DEFAULT_SCALAR, false),
                        Float.POSITIVE_INFINITY,
                        true));
    }
}
