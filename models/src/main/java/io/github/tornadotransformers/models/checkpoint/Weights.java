package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.Weight;
import java.util.List;
import java.util.Map;

/** The data of every weight of a program. Whoever allocated the memory frees it; see {@link WeightLoader}. */
public final class Weights {
    private final Map<Weight, WeightData> data;
    private final Map<Weight, List<List<StoredColumns>>> stored;

    public Weights(Map<Weight, WeightData> data) {
        this(data, Map.of());
    }

    /** @param stored matrices whose tensors are kept apart, by layer */
    Weights(Map<Weight, WeightData> data, Map<Weight, List<List<StoredColumns>>> stored) {
        this.data = Map.copyOf(data);
        this.stored = Map.copyOf(stored);
    }

    /** @throws IllegalArgumentException if the weight is not of the program that was loaded, or its tensors are kept apart */
    public WeightData get(Weight weight) {
        WeightData found = data.get(weight);
        if (found == null) {
            throw new IllegalArgumentException("weight " + weight.name() + " was not loaded");
        }
        return found;
    }

    /** Whether the tensors of a matrix are kept apart. */
    public boolean isStored(Weight weight) {
        return stored.containsKey(weight);
    }

    /** The columns of one layer of a matrix whose tensors are kept apart, left to right. */
    public List<StoredColumns> columns(Weight weight, int layer) {
        return stored.get(weight).get(layer);
    }

    /** Bytes of all elements and scales. */
    public long bytes() {
        return data.values().stream().mapToLong(WeightData::bytes).sum()
                + stored.values().stream()
                        .flatMap(List::stream)
                        .flatMap(List::stream)
                        .mapToLong(StoredColumns::bytes)
                        .sum();
    }
}
