package io.github.tornadotransformers.models.gemma2;

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
 * Gemma 2 checkpoints as Hugging Face's {@code Gemma2ForCausalLM} writes them. Sizes are required; what is absent otherwise has
 * that class's default.
 */
@MetaInfServices(ModelFamily.class)
public final class Gemma2Family implements ModelFamily<Gemma2Config> {
    private static final int DEFAULT_CONTEXT = 8192;
    private static final int DEFAULT_WINDOW = 4096;
    private static final int DEFAULT_HEAD_DIM = 256;
    private static final double DEFAULT_THETA = 10_000;
    private static final double DEFAULT_SCALAR = 256;
    private static final float DEFAULT_EPSILON = 1e-6f;
    private static final float DEFAULT_SCORE_CAP = 50f;
    private static final float DEFAULT_LOGIT_CAP = 30f;
    private static final String SCORE_CAP = "attn_logit_softcapping";
    private static final String LOGIT_CAP = "final_logit_softcapping";

    @Override
    public String modelType() {
        return Gemma2Config.MODEL_TYPE;
    }

    @Override
    public Class<Gemma2Config> configType() {
        return Gemma2Config.class;
    }

    @Override
    public Gemma2Config parse(ConfigReader config) {
        CommonFields.refuseWhatIsNotImplemented(config);
        Sizes sizes = Sizes.parse(config, DEFAULT_CONTEXT);
        Heads heads = Heads.parseOr(config, DEFAULT_HEAD_DIM);
        return new Gemma2Config(
                sizes,
                heads,
                new RopeFields(config, sizes.contextLength(), heads.headDim()).parse(DEFAULT_THETA),
                LayerWindows.parse(config, sizes.layers(), DEFAULT_WINDOW, layer -> layer % 2 == 0),
                CommonFields.epsilon(config, DEFAULT_EPSILON),
                CommonFields.activation(config, "hidden_activation", Activation.GELU_TANH),
                new Gemma2Config.Attention(
                        config.positiveOr("query_pre_attn_scalar", DEFAULT_SCALAR),
                        CommonFields.cap(config, SCORE_CAP, DEFAULT_SCORE_CAP),
                        config.flagOr("attention_bias", false)),
                CommonFields.cap(config, LOGIT_CAP, DEFAULT_LOGIT_CAP),
                CommonFields.tiedHead(config, true));
    }

    @Override
    public void describe(Gemma2Config config, ObjectNode json) {
        json.putArray("architectures").add("Gemma2ForCausalLM");
        config.sizes().describe(json);
        config.heads().describe(json);
        RopeFields.describe(config.rope(), config.heads().headDim(), json);
        config.windows().describe(json);
        json.put("hidden_activation", CommonFields.name(config.activation()));
        json.put("query_pre_attn_scalar", config.attention().queryScalar());
        CommonFields.describeCap(SCORE_CAP, config.attention().scoreCap(), json);
        json.put("attention_bias", config.attention().isBiased());
        CommonFields.describeCap(LOGIT_CAP, config.logitCap(), json);
        CommonFields.describe(config.rmsNormEps(), config.tiedHead(), json);
    }

    @Override
    public List<Gemma2Config> examples() {
        return List.of(
                new Gemma2Config(
                        new Sizes(139, 67, 36, 66, 3),
                        new Heads(6, 2, 10),
                        new Rope(DEFAULT_THETA, 10, new RopeScaling.None()),
                        LayerWindows.of(5, 3, layer -> layer % 2 == 0),
                        DEFAULT_EPSILON,
                        Activation.GELU_TANH,
                        new Gemma2Config.Attention(7, 1.5f, true),
                        2.5f,
                        true),
                new Gemma2Config(
                        new Sizes(61, 48, 132, 260, 2),
                        new Heads(3, 3, 44),
                        new Rope(DEFAULT_THETA, 44, new RopeScaling.Linear(2)),
                        LayerWindows.none(2),
                        1e-5f,
                        Activation.GELU_ERF,
                        new Gemma2Config.Attention(44, Float.POSITIVE_INFINITY, false),
                        Float.POSITIVE_INFINITY,
                        false));
    }

    @Override
    public Map<String, Gemma2Config> published() {
        return Map.of(
                "gemma2-2B",
                new Gemma2Config(
                        new Sizes(256_000, 8192, 2304, 9216, 26),
                        new Heads(8, 4, 256),
                        new Rope(DEFAULT_THETA, 256, new RopeScaling.None()),
                        LayerWindows.of(DEFAULT_WINDOW, 26, layer -> layer % 2 == 0),
                        DEFAULT_EPSILON,
                        Activation.GELU_TANH,
                        new Gemma2Config.Attention(DEFAULT_SCALAR, DEFAULT_SCORE_CAP, false),
                        DEFAULT_LOGIT_CAP,
                        true));
    }
}
