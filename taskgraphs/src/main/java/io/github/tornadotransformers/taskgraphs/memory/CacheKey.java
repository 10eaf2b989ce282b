package io.github.tornadotransformers.taskgraphs.memory;

import java.util.Locale;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** The cached keys or values of layers. */
public record CacheKey<T extends TornadoNativeArray>(Part part, LayerRange layers, ElementType<T> type)
        implements ArrayKey<T> {
    /** Of what attention reads again. */
    public enum Part {
        KEYS,
        VALUES
    }

    @Override
    public String toString() {
        return part.name().toLowerCase(Locale.ROOT) + " of " + layers;
    }
}
