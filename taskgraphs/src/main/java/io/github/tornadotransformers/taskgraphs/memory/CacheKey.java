package io.github.tornadotransformers.taskgraphs.memory;

import java.util.Locale;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/** The cached keys or values of layers. */
public record CacheKey(Part part, LayerRange layers) implements ArrayKey<FloatArray> {
    /** Of what attention reads again. */
    public enum Part {
        KEYS,
        VALUES
    }

    @Override
    public ElementType<FloatArray> type() {
        return ElementType.FLOAT;
    }

    @Override
    public String toString() {
        return part.name().toLowerCase(Locale.ROOT) + " of " + layers;
    }
}
