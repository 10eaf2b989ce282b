package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.ValueLayout;

/** Where an {@link OpLoop} finds the trained tensors of its layer. */
public interface OpWeights {
    /** A weight that is multiplied with activations. */
    HostMatrix matrix(Weight weight);

    /** A weight of kind {@code FLOAT32}, {@code [rows][columns]}. */
    float[] vector(Weight weight);

    /** A layer of loaded weights; of a weight outside the block, its only one. */
    static OpWeights of(Weights weights, int layer) {
        return new OpWeights() {
            @Override
            public HostMatrix matrix(Weight weight) {
                return HostMatrix.of(weights, weight, index(weight));
            }

            @Override
            public float[] vector(Weight weight) {
                WeightData data = weights.get(weight);
                return data.layer(index(weight)).toArray(ValueLayout.JAVA_FLOAT);
            }

            private int index(Weight weight) {
                return weight.layers() == 1 ? 0 : layer;
            }
        };
    }
}
