package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.gpt2.Gpt2Family;
import io.github.tornadotransformers.models.llama.LlamaFamily;
import java.util.List;
import java.util.stream.Collectors;

/** The families that can be loaded. A new one is a folder beside {@code gpt2} and {@code llama}, and a line here. */
public final class ModelFamilies {
    static final String MODEL_TYPE = "model_type";

    private static final List<ModelFamily<?>> ALL = List.of(new Gpt2Family(), new LlamaFamily());

    private ModelFamilies() {}

    /** The values of {@code model_type} that are implemented, for a message. */
    public static String supported() {
        return ALL.stream().map(ModelFamily::modelType).collect(Collectors.joining(", "));
    }

    /** @throws io.github.tornadotransformers.models.CheckpointException if it is missing or not implemented */
    static ModelFamily<?> named(ConfigReader config) {
        if (!config.has(MODEL_TYPE)) {
            throw config.rejected(MODEL_TYPE, "one of " + supported());
        }
        String modelType = config.text(MODEL_TYPE).orElseThrow();
        return ALL.stream()
                .filter(family -> family.modelType().equals(modelType))
                .findFirst()
                .orElseThrow(() -> config.notImplemented(MODEL_TYPE, supported()));
    }

    /** @throws IllegalArgumentException if the config is of no family */
    public static ModelFamily<?> of(ModelConfig config) {
        return ALL.stream()
                .filter(family -> family.configType().isInstance(config))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no family for " + config.getClass()));
    }

    /** Writes the fields of {@code config.json}, but for the model type. */
    static void describe(ModelConfig config, ObjectNode json) {
        describe(of(config), config, json);
    }

    private static <C extends ModelConfig> void describe(ModelFamily<C> family, ModelConfig config, ObjectNode json) {
        family.describe(family.configType().cast(config), json);
    }
}
