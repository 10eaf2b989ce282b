package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.Weight;
import java.util.Map;

/** The data of every weight of a program. Whoever allocated the memory frees it; see {@link WeightLoader}. */
public final class Weights {
    private final Map<Weight, WeightData> data;

    public Weights(Map<Weight, WeightData> data) {
        this.data = Map.copyOf(data);
    }

    /** @throws IllegalArgumentException if the weight is not of the program that was loaded */
    public WeightData get(Weight weight) {
        WeightData found = data.get(weight);
        if (found == null) {
            throw new IllegalArgumentException("weight " + weight.name() + " was not loaded");
        }
        return found;
    }

    /** Bytes of all elements and scales. */
    public long bytes() {
        return data.values().stream().mapToLong(WeightData::bytes).sum();
    }
}
