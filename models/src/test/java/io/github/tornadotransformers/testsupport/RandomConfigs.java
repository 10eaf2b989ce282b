package io.github.tornadotransformers.testsupport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import java.nio.file.Path;
import java.util.List;

/**
 * Any model of any family: one of the family's examples, whose {@code config.json} has other sizes, and other values of every field
 * that may be either way.
 */
public final class RandomConfigs {
    private static final List<String> FLAGS =
            List.of("tie_word_embeddings", "attention_bias", "mlp_bias", "scale_attn_weights");
    private static final List<String> FACTORS = List.of(
            "embedding_multiplier",
            "attention_multiplier",
            "residual_multiplier",
            "logits_scaling",
            "query_pre_attn_scalar",
            "attn_logit_softcapping",
            "final_logit_softcapping");

    private RandomConfigs() {}

    public static ModelConfig of(RandomData data) {
        return of(data, data.between(1, 200));
    }

    /** @param context positions that the model was trained for */
    public static ModelConfig of(RandomData data, int context) {
        List<ModelFamily<?>> families = ModelFamilies.all();
        return of(families.get(data.between(0, families.size() - 1)), data, context);
    }

    /** Of those that can be trained. */
    public static ModelConfig trainable(RandomData data) {
        ModelConfig config = of(data);
        while (config.program(config.contextLength()).whyNotLearned().isPresent()) {
            config = of(data);
        }
        return config;
    }

    public static <C extends ModelConfig> C of(ModelFamily<C> family, RandomData data) {
        return of(family, data, data.between(1, 200));
    }

    private static <C extends ModelConfig> C of(ModelFamily<C> family, RandomData data, int context) {
        List<C> examples = family.examples();
        ObjectNode json = json(family, examples.get(data.between(0, examples.size() - 1)), data, context);
        return family.parse(new ConfigReader(Path.of("config.json"), json));
    }

    private static <C extends ModelConfig> ObjectNode json(
            ModelFamily<C> family, C example, RandomData data, int context) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        family.describe(example, json);
        int kvHeads = data.between(1, 3);
        int heads = kvHeads * data.between(1, 3);
        replace(json, "num_key_value_heads", kvHeads);
        replace(json, "num_attention_heads", heads);
        replace(json, "n_head", heads);
        replace(json, "n_embd", heads * data.between(1, 24));
        replace(json, "hidden_size", data.size(200));
        replace(json, "intermediate_size", data.size(389));
        replace(json, "n_inner", data.size(389));
        replace(json, "vocab_size", data.size(257));
        replace(json, "max_position_embeddings", context);
        replace(json, "n_positions", context);
        replace(json, "num_hidden_layers", data.between(1, example.layers()));
        replace(json, "n_layer", data.between(1, example.layers()));
        replace(json, "sliding_window", data.between(1, 12));
        for (String flag : FLAGS) {
            if (json.has(flag)) {
                json.put(flag, data.coin());
            }
        }
        for (String factor : FACTORS) {
            if (json.path(factor).isNumber()) {
                json.put(factor, data.between(1, 40) / 8.0);
            }
        }
        return json;
    }

    private static void replace(ObjectNode json, String field, int value) {
        JsonNode before = json.path(field);
        if (before.isNumber()) {
            json.put(field, value);
        }
    }
}
