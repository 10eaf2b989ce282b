package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import java.util.stream.Stream;

/**
 * The shapes of models by name; benchmarks fill them with random weights. Beside those of published models there is
 * {@code tiny-FAMILY} for every family, its first example: to see that the benchmarks themselves work, in no time.
 */
final class Shapes {
    /** What is measured unless a call says otherwise. */
    static final String[] USUAL = {"stories15M", "gpt2-124M", "tinyllama-1.1B"};

    private static final String TINY = "tiny-";

    private Shapes() {}

    /** @throws InvalidRequest if there is none of that name */
    static ModelConfig named(String name) {
        return ModelPresets.named(name)
                .or(() -> ModelFamilies.all().stream()
                        .filter(family -> name.equals(tiny(family)))
                        .<ModelConfig>map(family -> family.examples().getFirst())
                        .findFirst())
                .orElseThrow(() -> new InvalidRequest(
                        "there is no model '" + name + "', expected one of " + String.join(", ", names())));
    }

    private static Iterable<String> names() {
        return Stream.concat(
                        ModelPresets.names().stream(),
                        ModelFamilies.all().stream().map(Shapes::tiny))
                .toList();
    }

    private static String tiny(ModelFamily<?> family) {
        return TINY + family.modelType();
    }

    /** The same model with so many layers at most. */
    static ModelConfig cut(ModelConfig config, int layers) {
        return config.withLayers(Math.min(layers, config.layers()));
    }
}
