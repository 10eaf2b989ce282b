package io.github.tornadotransformers.models.learning;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.SequencedSet;

/**
 * float32 arrays of the shape of a program's weights, an array {@code [rows][columns]} for every layer of each: the weights
 * themselves, their gradients, or an optimizer's moments.
 */
public final class ParameterArrays {
    private final SequencedMap<Weight, float[][]> arrays = new LinkedHashMap<>();

    /**
     * All zero, in the program's order.
     *
     * @throws InvalidRequest if a layer of a weight has 2^31 elements or more
     */
    public ParameterArrays(Program program) {
        for (Weight weight : program.weights()) {
            if (weight.layerSize() > Integer.MAX_VALUE) {
                throw new InvalidRequest("weight " + weight.name() + " has " + weight.layerSize()
                        + " elements a layer, training holds at most " + Integer.MAX_VALUE);
            }
            arrays.put(weight, new float[weight.layers()][(int) weight.layerSize()]);
        }
    }

    /** A copy of loaded float32 weights. */
    public static ParameterArrays copyOf(Program program, Weights weights) {
        ParameterArrays copy = new ParameterArrays(program);
        for (Weight weight : copy.weights()) {
            WeightData data = weights.get(weight);
            for (int layer = 0; layer < weight.layers(); layer++) {
                float[] to = copy.layer(weight, layer);
                MemorySegment.copy(data.layer(layer), ValueLayout.JAVA_FLOAT, 0, to, 0, to.length);
            }
        }
        return copy;
    }

    public SequencedSet<Weight> weights() {
        return arrays.sequencedKeySet();
    }

    /** {@code [rows][columns]} of one layer: the array itself, not a copy. */
    public float[] layer(Weight weight, int layer) {
        return arrays.get(weight)[layer];
    }

    public void clear() {
        arrays.values().forEach(layers -> Arrays.stream(layers).forEach(each -> Arrays.fill(each, 0f)));
    }

    /** The square root of the sum of all squares, in double, in the program's order. */
    public double norm() {
        double sum = 0;
        for (float[][] layers : arrays.values()) {
            for (float[] layer : layers) {
                sum += sumOfSquares(layer);
            }
        }
        return Math.sqrt(sum);
    }

    private static double sumOfSquares(float[] values) {
        double sum = 0;
        for (float value : values) {
            sum += (double) value * value;
        }
        return sum;
    }

    /** {@code this[i] += factor * other[i]}, fused. */
    public void add(float factor, ParameterArrays other) {
        for (Weight weight : weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                float[] to = layer(weight, layer);
                float[] from = other.layer(weight, layer);
                for (int i = 0; i < to.length; i++) {
                    to[i] = Math.fma(factor, from[i], to[i]);
                }
            }
        }
    }
}
