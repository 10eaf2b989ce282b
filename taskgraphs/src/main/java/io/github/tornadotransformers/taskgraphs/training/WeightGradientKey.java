package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.taskgraphs.memory.ElementType;
import io.github.tornadotransformers.taskgraphs.memory.LayerRange;
import io.github.tornadotransformers.taskgraphs.memory.PlannedArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/** The gradient of a weight's layers, which has their shape. */
record WeightGradientKey(Weight weight, LayerRange layers) implements ArrayKey<FloatArray> {
    @Override
    public ElementType<FloatArray> type() {
        return ElementType.FLOAT;
    }

    PlannedArray<FloatArray> planned() {
        return new PlannedArray<>(this, Math.multiplyExact(weight.layerSize(), layers.count()));
    }

    @Override
    public String toString() {
        return "gradient of " + layers.nameOf(weight);
    }
}
