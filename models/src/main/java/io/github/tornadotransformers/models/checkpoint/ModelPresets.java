package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.ModelConfig;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
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

    /**
     * As {@link #named}, for the many ways in which people write a model's name: whatever its letters' case, with or without
     * its owner, its size where that is plain, and what stands behind it: {@code gpt2}, {@code google/gemma-3-1b-it}.
     */
    public static Optional<ModelConfig> like(String name) {
        String wanted = bare(name.substring(name.lastIndexOf('/') + 1));
        List<String> names = names().stream()
                .filter(each -> bare(each).startsWith(wanted) || wanted.startsWith(bare(each)))
                .toList();
        Optional<String> exact =
                names.stream().filter(each -> bare(each).equals(wanted)).findFirst();
        return exact.or(() ->
                        Optional.of(names).filter(each -> each.size() == 1).map(List::getFirst))
                .flatMap(ModelPresets::named);
    }

    private static String bare(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[-_ ]", "");
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
