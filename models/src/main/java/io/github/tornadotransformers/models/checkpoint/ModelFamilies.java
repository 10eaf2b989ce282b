package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** The families that can be loaded: every {@link ModelFamily} that is registered as a service. */
public final class ModelFamilies {
    static final String MODEL_TYPE = "model_type";

    private static final List<ModelFamily<?>> ALL = find();

    private ModelFamilies() {}

    private static List<ModelFamily<?>> find() {
        // Hidden: a service's type has no parameter.
        @SuppressWarnings("rawtypes")
        ServiceLoader<ModelFamily> found = ServiceLoader.load(ModelFamily.class, ModelFamily.class.getClassLoader());
        return StreamSupport.stream(found.spliterator(), false)
                .<ModelFamily<?>>map(family -> family)
                .sorted(Comparator.comparing(ModelFamily::modelType))
                .toList();
    }

    /** All families, in the order of their names. */
    public static List<ModelFamily<?>> all() {
        return ALL;
    }

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
