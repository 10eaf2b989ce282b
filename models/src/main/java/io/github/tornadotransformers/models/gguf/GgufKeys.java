package io.github.tornadotransformers.models.gguf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Writes a {@code config.json} as the keys of a GGUF file: the reverse of {@link GgufFile#config}. What keys cannot say is left out:
 * whoever needs to know reads them again.
 */
public final class GgufKeys {
    private final GgufArchitecture architecture;
    private final ObjectNode json;
    private final SequencedMap<String, GgufValue> keys = new LinkedHashMap<>();

    private GgufKeys(GgufArchitecture architecture, ObjectNode json) {
        this.architecture = architecture;
        this.json = json;
    }

    /** @param json the fields that the family's reader reads */
    public static SequencedMap<String, GgufValue> of(GgufArchitecture architecture, ObjectNode json) {
        GgufKeys keys = new GgufKeys(architecture, json);
        keys.put(GgufArchitecture.KEY, new GgufValue.Text(architecture.ggufName()));
        keys.write();
        return keys.keys;
    }

    private void write() {
        if (architecture == GgufArchitecture.GPT2) {
            whole("context_length", "n_positions");
            whole("embedding_length", "n_embd");
            whole("feed_forward_length", "n_inner");
            whole("block_count", "n_layer");
            whole("attention.head_count", "n_head");
            number("attention.layer_norm_epsilon", json.path("layer_norm_epsilon"));
            return;
        }
        whole("vocab_size", "vocab_size");
        whole("context_length", "max_position_embeddings");
        whole("embedding_length", "hidden_size");
        whole("feed_forward_length", "intermediate_size");
        whole("block_count", "num_hidden_layers");
        whole("attention.head_count", "num_attention_heads");
        whole("attention.head_count_kv", "num_key_value_heads");
        whole("attention.key_length", "head_dim");
        whole("attention.value_length", "head_dim");
        number("attention.layer_norm_rms_epsilon", json.path("rms_norm_eps"));
        rope(json.path("rope_parameters").path("full_attention"), json);
        if (architecture == GgufArchitecture.GEMMA3) {
            number(
                    "rope.freq_base_swa",
                    json.path("rope_parameters").path("sliding_attention").path("rope_theta"));
            pattern();
        }
        if (json.path("sliding_window").isNumber() || architecture == GgufArchitecture.PHI3) {
            put(
                    "attention.sliding_window",
                    new GgufValue.Whole(json.path("sliding_window").asLong()));
        }
        number("attn_logit_softcapping", json.path("attn_logit_softcapping"));
        number("final_logit_softcapping", json.path("final_logit_softcapping"));
        number("attention.scale", json.path("attention_multiplier"));
        number("embedding_scale", json.path("embedding_multiplier"));
        number("residual_scale", json.path("residual_multiplier"));
        number("logit_scale", json.path("logits_scaling"));
    }

    private void rope(JsonNode section, JsonNode otherwise) {
        boolean inSection = section.isObject();
        JsonNode scaling = inSection ? section : otherwise.path("rope_scaling");
        number("rope.freq_base", (inSection ? section : otherwise).path("rope_theta"));
        double rotated = json.path("partial_rotary_factor").asDouble(1);
        put(
                "rope.dimension_count",
                new GgufValue.Whole(Math.round(json.path("head_dim").asLong() * rotated)));
        switch (scaling.path("rope_type").asText()) {
            case "linear" -> {
                put("rope.scaling.type", new GgufValue.Text("linear"));
                number("rope.scaling.factor", scaling.path("factor"));
            }
            case "yarn" -> {
                put("rope.scaling.type", new GgufValue.Text("yarn"));
                number("rope.scaling.factor", scaling.path("factor"));
                original(scaling);
                number("rope.scaling.yarn_beta_fast", scaling.path("beta_fast"));
                number("rope.scaling.yarn_beta_slow", scaling.path("beta_slow"));
            }
            case "longrope" -> {
                original(scaling);
                number("rope.scaling.attn_factor", scaling.path("attention_factor"));
            }
            case "llama3" -> original(scaling);
            default -> {}
        }
    }

    private void original(JsonNode scaling) {
        double original = scaling.path("original_max_position_embeddings").asDouble();
        put("rope.scaling.original_context_length", new GgufValue.Whole(Math.round(original)));
    }

    /** A flag for each layer; none where they follow the usual pattern. */
    private void pattern() {
        List<Double> slides = new ArrayList<>();
        boolean isUsual = true;
        for (JsonNode type : json.path("layer_types")) {
            boolean sliding = type.asText().equals("sliding_attention");
            slides.add(sliding ? 1.0 : 0.0);
            isUsual &= sliding == (slides.size() % 6 != 0);
        }
        if (!isUsual) {
            put("attention.sliding_window_pattern", new GgufValue.Numbers(slides, true));
        }
    }

    private void whole(String key, String field) {
        if (json.path(field).isNumber()) {
            put(key, new GgufValue.Whole(json.path(field).asLong()));
        }
    }

    private void number(String key, JsonNode value) {
        if (value.isNumber()) {
            put(key, GgufValue.Real.of(value.floatValue()));
        }
    }

    private void put(String name, GgufValue value) {
        keys.put(name.equals(GgufArchitecture.KEY) ? name : architecture.ggufName() + "." + name, value);
    }

    /** The tensors in which each pair that is rotated has a factor of its own; most models have none. */
    public static SequencedMap<String, float[]> factors(ObjectNode json) {
        SequencedMap<String, float[]> factors = new LinkedHashMap<>();
        JsonNode scaling = json.path("rope_scaling");
        if (scaling.path("rope_type").asText().equals("longrope")) {
            factors.put(GgufRope.LONG, floats(scaling.path("long_factor")));
            factors.put(GgufRope.SHORT, floats(scaling.path("short_factor")));
        }
        if (scaling.path("rope_type").asText().equals("llama3")) {
            factors.put(GgufRope.FREQUENCIES, llama3(json, scaling));
        }
        return factors;
    }

    private static float[] floats(JsonNode array) {
        float[] floats = new float[array.size()];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = array.get(i).floatValue();
        }
        return floats;
    }

    private static float[] llama3(ObjectNode json, JsonNode scaling) {
        double low = scaling.path("low_freq_factor").asDouble();
        double high = scaling.path("high_freq_factor").asDouble();
        float[] factors = new float[json.path("head_dim").asInt() / 2];
        for (int pair = 0; pair < factors.length; pair++) {
            factors[pair] = (float) GgufRope.llama3Factor(
                    (double) pair / factors.length,
                    json.path("rope_theta").asDouble(),
                    scaling.path("original_max_position_embeddings").asDouble(),
                    low,
                    high,
                    scaling.path("factor").asDouble());
        }
        return factors;
    }
}
