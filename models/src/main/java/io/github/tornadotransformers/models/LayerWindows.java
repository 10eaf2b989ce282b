package io.github.tornadotransformers.models;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.program.AttentionShape;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Which layers attend to a sliding window of positions, arXiv:2004.05150, and which to all.
 *
 * @param window positions that a query of such a layer sees, its own included ({@code sliding_window})
 * @param slides whether each layer is one ({@code layer_types})
 */
public record LayerWindows(int window, List<Boolean> slides) {
    private static final String WINDOW = "sliding_window";
    private static final String USED = "use_sliding_window";
    private static final String TYPES = "layer_types";
    private static final String SLIDING = "sliding_attention";
    private static final String FULL = "full_attention";

    public LayerWindows {
        slides = List.copyOf(slides);
    }

    /** Of so many layers, those of a pattern with a window. */
    public static LayerWindows of(int window, int layers, IntPredicate slides) {
        List<Boolean> each = new ArrayList<>();
        for (int layer = 0; layer < layers; layer++) {
            each.add(slides.test(layer));
        }
        return new LayerWindows(window, each);
    }

    /** No layer has a window. */
    public static LayerWindows none(int layers) {
        return of(AttentionShape.EVERYTHING, layers, _ -> false);
    }

    /**
     * {@code sliding_window} and {@code layer_types}.
     *
     * @param window the family's where the config has no such field; a window that is null is none
     * @param slides the family's pattern where the config has no {@code layer_types}
     * @throws CheckpointException if a type is not implemented, there are not as many as layers, or a window is missing
     */
    public static LayerWindows parse(ConfigReader config, int layers, int window, IntPredicate slides) {
        boolean hasWindow = config.has(WINDOW) || !config.mentions(WINDOW);
        int positions = hasWindow ? config.countOr(WINDOW, Integer.MAX_VALUE, window) : AttentionShape.EVERYTHING;
        LayerWindows found = config.texts(TYPES)
                .map(types -> ofTypes(config, types, layers, positions))
                .orElseGet(() -> hasWindow ? of(positions, layers, slides) : none(layers));
        if (!hasWindow && found.slides.contains(true)) {
            throw config.contradiction(WINDOW + " is null, but " + TYPES + " has " + SLIDING);
        }
        return found.slides.contains(true) ? found : none(layers);
    }

    /**
     * As {@link #parse}, where {@code use_sliding_window} says whether there are any, and {@code max_window_layers} how many
     * layers come before the first of them.
     *
     * @param fullLayers the family's where the config has no such field
     */
    public static LayerWindows parseUsed(ConfigReader config, int layers, int window, int fullLayers) {
        if (!config.flagOr(USED, false)) {
            return none(layers);
        }
        int full = config.countFromZeroOr("max_window_layers", fullLayers);
        return parse(config, layers, window, layer -> layer >= full);
    }

    private static LayerWindows ofTypes(ConfigReader config, List<String> types, int layers, int window) {
        if (types.size() < layers) {
            throw config.contradiction(
                    TYPES + " has " + types.size() + " entries, expected one for each of " + layers + " layers");
        }
        for (String type : types) {
            if (!type.equals(SLIDING) && !type.equals(FULL)) {
                throw config.notImplemented(TYPES, SLIDING + ", " + FULL);
            }
        }
        return of(window, layers, layer -> types.get(layer).equals(SLIDING));
    }

    /** Writes what {@link #parse} reads. */
    public void describe(ObjectNode json) {
        describeWindow(json);
        ArrayNode types = json.putArray(TYPES);
        slides.forEach(each -> types.add(each ? SLIDING : FULL));
    }

    /** Writes what {@link #parseUsed} reads. */
    public void describeUsed(ObjectNode json) {
        json.put(USED, window != AttentionShape.EVERYTHING);
        describe(json);
    }

    /** Writes the window alone, for families whose layers are all alike. */
    public void describeWindow(ObjectNode json) {
        if (window == AttentionShape.EVERYTHING) {
            json.putNull(WINDOW);
        } else {
            json.put(WINDOW, window);
        }
    }

    public boolean slides(int layer) {
        return slides.get(layer);
    }

    /** What a layer's queries see, in a cache of that shape. */
    public AttentionShape shape(AttentionShape cache, boolean slides) {
        return slides ? cache.withWindow(window) : cache;
    }

    /** The first of them, or more of the same pattern. */
    public LayerWindows withLayers(int layers) {
        return of(window, layers, layer -> slides.get(layer % slides.size()));
    }
}
