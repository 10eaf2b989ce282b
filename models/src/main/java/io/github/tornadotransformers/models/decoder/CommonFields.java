package io.github.tornadotransformers.models.decoder;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.program.Activation;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/** Fields of {@code config.json} that today's decoders have in common. */
public final class CommonFields {
    private static final SequencedMap<String, Activation> ACTIVATIONS = new TreeMap<>(Map.of(
            "silu", Activation.SILU,
            "swish", Activation.SILU,
            "gelu_pytorch_tanh", Activation.GELU_TANH,
            "gelu_new", Activation.GELU_TANH,
            "gelu", Activation.GELU_ERF));

    private static final String TIED = "tie_word_embeddings";
    private static final String EPSILON = "rms_norm_eps";

    private CommonFields() {}

    /** Refuses what no family implements. */
    public static void refuseWhatIsNotImplemented(ConfigReader config) {
        config.requireAbsent("quantization_config");
        config.requireFlag("add_cross_attention", false);
        config.requireFlag("use_bidirectional_attention", false);
    }

    /** The activation of a gated MLP. */
    public static Activation activation(ConfigReader config, String field, Activation otherwise) {
        return config.text(field)
                .map(name -> {
                    if (!ACTIVATIONS.containsKey(name)) {
                        throw config.notImplemented(field, String.join(", ", ACTIVATIONS.keySet()));
                    }
                    return ACTIVATIONS.get(name);
                })
                .orElse(otherwise);
    }

    /** What {@link #activation} reads. */
    public static String name(Activation activation) {
        return switch (activation) {
            case SILU -> "silu";
            case GELU_TANH -> "gelu_pytorch_tanh";
            case GELU_ERF -> "gelu";
            case NONE -> throw new IllegalArgumentException("a gated MLP without an activation");
        };
    }

    /**
     * What values are softly capped at; infinite where the field is null.
     *
     * @param otherwise where the config has no such field
     */
    public static float cap(ConfigReader config, String field, float otherwise) {
        if (!config.mentions(field)) {
            return otherwise;
        }
        return config.has(field) ? (float) config.positive(field) : Float.POSITIVE_INFINITY;
    }

    /** Writes what {@link #cap} reads. */
    public static void describeCap(String field, float cap, ObjectNode json) {
        if (Float.isInfinite(cap)) {
            json.putNull(field);
        } else {
            json.put(field, cap);
        }
    }

    public static float epsilon(ConfigReader config, float otherwise) {
        return config.epsilonOr(EPSILON, otherwise);
    }

    public static boolean tiedHead(ConfigReader config, boolean otherwise) {
        return config.flagOr(TIED, otherwise);
    }

    /** Writes what {@link #epsilon} and {@link #tiedHead} read. */
    public static void describe(float epsilon, boolean tiedHead, ObjectNode json) {
        json.put(EPSILON, epsilon);
        json.put(TIED, tiedHead);
    }
}
