package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * The weights that a new model starts from: as GPT-2's (Radford et al. 2019), Gaussian with deviation 0.02 at that model's
 * width of 768, and wider where the model is narrower, as the root of the width; projections that add to the residual
 * stream are divided by the root of how many there are. Norm weights are 1, biases 0. The same seed gives the same weights.
 */
public final class InitialWeights {
    private static final double DEVIATION = 0.02 * Math.sqrt(768);

    private InitialWeights() {}

    public static ParameterArrays of(Program program, long seed) {
        ParameterArrays weights = new ParameterArrays(program);
        Map<Weight, Double> deviations = deviations(program);
        for (Op op : program.ops()) {
            if (op instanceof Op.LayerNorm norm) {
                fill(weights, norm.weight(), 1f);
            } else if (op instanceof Op.RmsNorm norm) {
                fill(weights, norm.weight(), 1f);
            }
        }
        for (Weight weight : program.weights()) {
            if (deviations.containsKey(weight)) {
                randomize(weights, weight, deviations.get(weight), seed);
            }
        }
        return weights;
    }

    private static Map<Weight, Double> deviations(Program program) {
        double residuals = program.blocks().stream()
                .flatMap(block -> block.ops().stream())
                .filter(InitialWeights::addsToResidual)
                .count();
        double usual = DEVIATION / Math.sqrt(program.residual().width());
        Map<Weight, Double> deviations = new HashMap<>();
        for (Op op : program.ops()) {
            if (op instanceof Op.Linear linear) {
                deviations.put(linear.weight(), addsToResidual(op) ? usual / Math.sqrt(residuals) : usual);
            } else if (op instanceof Op.TokenEmbedding embedding) {
                deviations.put(embedding.table(), usual);
            } else if (op instanceof Op.PositionEmbedding embedding) {
                deviations.put(embedding.table(), usual / 2);
            }
        }
        return deviations;
    }

    private static boolean addsToResidual(Op op) {
        return op instanceof Op.Linear linear && linear.residual().adds();
    }

    private static void fill(ParameterArrays weights, Weight weight, float value) {
        for (int layer = 0; layer < weight.layers(); layer++) {
            Arrays.fill(weights.layer(weight, layer), value);
        }
    }

    private static void randomize(ParameterArrays weights, Weight weight, double deviation, long seed) {
        for (int layer = 0; layer < weight.layers(); layer++) {
            Random random = new Random(31 * (31 * seed + weight.name().hashCode()) + layer);
            float[] values = weights.layer(weight, layer);
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) (deviation * random.nextGaussian());
            }
        }
    }
}
