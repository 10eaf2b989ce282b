package io.github.tornadotransformers.models.checkpoint;

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

    /** @throws IllegalArgumentException if no family has configs of this class */
    static <C extends ModelConfig> ModelFamily<? super C> of(C config) {
        for (ModelFamily<?> family : ALL) {
            if (family.configType().isInstance(config)) {
                @SuppressWarnings("unchecked")
                ModelFamily<? super C> found = (ModelFamily<? super C>) family;
                return found;
            }
        }
        throw new IllegalArgumentException("no family for " + config.getClass());
    }
}
