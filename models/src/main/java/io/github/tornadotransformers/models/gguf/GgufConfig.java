package io.github.tornadotransformers.models.gguf;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Writes the keys of a GGUF file as the {@code config.json} that says the same, so that one reader checks both. */
final class GgufConfig {
    private static final String EMBEDDING = "token_embd.weight";
    private static final String HEAD = "output.weight";
    private static final double SWITCHED_OFF = 0;

    /** Layers of the largest Gemma 2 and 3, whose scores are divided by another root than those of the others. */
    private static final Map<GgufArchitecture, Integer> LARGEST =
            Map.of(GgufArchitecture.GEMMA2, 46, GgufArchitecture.GEMMA3, 62);

    /** Keys that change what is computed, and are not implemented, below the architecture's name; with 0 they do nothing. */
    private static final List<String> NOT_IMPLEMENTED = List.of(
            "expert_count",
            "leading_dense_block_count",
            "attention.clamp_kqv",
            "attention.max_alibi_bias",
            "attention.q_lora_rank",
            "attention.kv_lora_rank",
            "attention.shared_kv_layers",
            "attention.temperature_scale",
            "attention.output_scale",
            "rope.scaling.yarn_log_multiplier",
            "rope.scaling.yarn_ext_factor",
            "embedding_length_per_layer_input",
            "pooling_type");

    private final GgufFile file;
    private final GgufMetadata metadata;
    private final GgufArchitecture architecture;
    private final ObjectNode json = JsonNodeFactory.instance.objectNode();
    private final Map<String, String> keys = new LinkedHashMap<>();

    private GgufConfig(GgufFile file) {
        this.file = file;
        this.metadata = file.metadata();
        this.architecture = GgufArchitecture.of(metadata);
    }

    /** @throws io.github.tornadotransformers.models.CheckpointException if a key has the wrong type or is not implemented */
    static ConfigReader of(GgufFile file) {
        GgufConfig config = new GgufConfig(file);
        config.write();
        return new ConfigReader(file.file(), config.json, config.keys);
    }

    private void write() {
        json.put("model_type", architecture.modelType());
        refuse();
        vocabulary();
        if (architecture == GgufArchitecture.GPT2) {
            whole("context_length", "n_positions");
            whole("embedding_length", "n_embd");
            whole("feed_forward_length", "n_inner");
            whole("block_count", "n_layer");
            whole("attention.head_count", "n_head");
            number("attention.layer_norm_epsilon", "layer_norm_epsilon");
            return;
        }
        whole("context_length", "max_position_embeddings");
        whole("embedding_length", "hidden_size");
        whole("feed_forward_length", "intermediate_size");
        whole("block_count", "num_hidden_layers");
        whole("attention.head_count", "num_attention_heads");
        whole("attention.head_count_kv", "num_key_value_heads");
        number("attention.layer_norm_rms_epsilon", "rms_norm_eps");
        headDim();
        biases();
        number("rope.freq_base", "rope_theta");
        new GgufRope(file, architecture, this).write();
        switch (architecture) {
            case GEMMA2, GEMMA3 -> gemma();
            case GRANITE -> granite();
            case PHI3 -> window();
            default -> {}
        }
    }

    private void refuse() {
        for (String name : NOT_IMPLEMENTED) {
            refuse(name, SWITCHED_OFF);
        }
        if (architecture != GgufArchitecture.GRANITE) {
            refuse("attention.scale", SWITCHED_OFF);
            refuse("embedding_scale", SWITCHED_OFF);
            refuse("residual_scale", SWITCHED_OFF);
            refuse("logit_scale", SWITCHED_OFF);
        }
        boolean isGemma = architecture == GgufArchitecture.GEMMA2 || architecture == GgufArchitecture.GEMMA3;
        if (!isGemma) {
            refuse("final_logit_softcapping", SWITCHED_OFF);
        }
        if (architecture != GgufArchitecture.GEMMA2) {
            refuse("attn_logit_softcapping", SWITCHED_OFF);
        }
        if (!isGemma && architecture != GgufArchitecture.PHI3) {
            refuse("attention.sliding_window", SWITCHED_OFF);
        }
        refuse("use_parallel_residual", false);
        refuse("attention.causal", true);
    }

    private void refuse(String name, double neutral) {
        if (metadata.number(key(name)).orElse(neutral) != neutral) {
            throw metadata.notImplemented(key(name), "none");
        }
    }

    private void refuse(String name, boolean neutral) {
        if (metadata.flag(key(name)).orElse(neutral) != neutral) {
            throw metadata.notImplemented(key(name), Boolean.toString(neutral));
        }
    }

    private void vocabulary() {
        GgufTensor embedding = file.tensors().get(EMBEDDING);
        if (embedding != null && embedding.shape().size() == 2) {
            json.put("vocab_size", embedding.shape().getFirst());
        }
        keys.put("vocab_size", "the rows of " + EMBEDDING);
        json.put("tie_word_embeddings", !file.tensors().containsKey(HEAD));
    }

    private void headDim() {
        whole("attention.key_length", "head_dim");
        OptionalLong values = metadata.whole(key("attention.value_length"));
        if (values.isPresent() && !values.equals(metadata.whole(key("attention.key_length")))) {
            throw metadata.notImplemented(key("attention.value_length"), "the same as attention.key_length");
        }
        if (!json.has("head_dim") && heads() > 0) {
            json.put("head_dim", hidden() / heads());
        }
    }

    private void biases() {
        json.put("attention_bias", file.tensors().containsKey("blk.0.attn_q.bias"));
        json.put("mlp_bias", file.tensors().containsKey("blk.0.ffn_gate.bias"));
    }

    private void gemma() {
        whole("attention.sliding_window", "sliding_window");
        number("attn_logit_softcapping", "attn_logit_softcapping");
        number("final_logit_softcapping", "final_logit_softcapping");
        boolean isLargest = json.path("num_hidden_layers").asLong() == LARGEST.get(architecture);
        json.put("query_pre_attn_scalar", isLargest && heads() > 0 ? hidden() / heads() : headDimension());
        if (architecture == GgufArchitecture.GEMMA3) {
            number("rope.freq_base_swa", "rope_local_base_freq");
            pattern();
        }
    }

    /** Every so many layers see everything; or a flag for each. */
    private void pattern() {
        String key = key("attention.sliding_window_pattern");
        if (!metadata.has(key)) {
            return;
        }
        if (metadata.isWhole(key)) {
            whole("attention.sliding_window_pattern", "sliding_window_pattern");
            return;
        }
        ArrayNode types = json.putArray("layer_types");
        metadata.numbers(key)
                .orElse(List.of())
                .forEach(slides -> types.add(slides == 0 ? "full_attention" : "sliding_attention"));
    }

    private void granite() {
        number("attention.scale", "attention_multiplier");
        number("embedding_scale", "embedding_multiplier");
        number("residual_scale", "residual_multiplier");
        number("logit_scale", "logits_scaling");
    }

    /** A window of 0 is none. */
    private void window() {
        String key = key("attention.sliding_window");
        if (!metadata.has(key)) {
            throw metadata.missing(key);
        }
        if (metadata.whole(key).orElseThrow() == 0) {
            json.putNull("sliding_window");
        } else {
            whole("attention.sliding_window", "sliding_window");
        }
    }

    /** A key of this architecture. */
    String key(String name) {
        return architecture.ggufName() + "." + name;
    }

    void whole(String name, String field) {
        keys.put(field, key(name));
        metadata.whole(key(name)).ifPresent(value -> json.put(field, value));
    }

    void number(String name, String field) {
        keys.put(field, key(name));
        metadata.number(key(name)).ifPresent(value -> json.put(field, value));
    }

    /** The config that is being written, and for messages the key of one of its fields. */
    ObjectNode json(String field, String name) {
        keys.put(field, key(name));
        return json;
    }

    long headDimension() {
        return json.path("head_dim").asLong();
    }

    private long hidden() {
        return json.path("hidden_size").asLong();
    }

    private long heads() {
        return json.path("num_attention_heads").asLong();
    }
}
