package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.ModelConfig;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The shapes of published models by name: with {@link RandomCheckpoint} they can be measured without a download. */
public final class ModelPresets {
    private ModelPresets() {}

    public static Optional<ModelConfig> named(String name) {
        return ModelFamilies.all().stream()
                .<ModelConfig>mapMulti((family, found) -> family.published().entrySet().stream()
                        .filter(entry -> entry.getKey().equals(name))
                        .forEach(entry -> found.accept(entry.getValue())))
                .findFirst();
    }

    /** Smallest model first. */
    public static List<String> names() {
        return ModelFamilies.all().stream()
                .flatMap(family -> family.published().entrySet().stream())
                .sorted(Comparator.comparingLong(entry -> entry.getValue().parameters()))
                .map(Map.Entry::getKey)
                .toList();
    }
}
