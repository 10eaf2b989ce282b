package io.github.tornadotransformers.training;

import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.util.HashSet;
import java.util.Set;

/**
 * Adam with decoupled weight decay, in float32. Only the matrices of linear layers decay: norms, biases and embeddings do
 * not, nor does a head that is the embedding itself.
 *
 * <p>Source: Kingma and Ba 2015, arXiv:1412.6980; Loshchilov and Hutter 2019, arXiv:1711.05101.
 */
final class AdamW {
    private final ParameterArrays mean;
    private final ParameterArrays square;
    private final Set<Weight> decaying;
    private final TrainingSettings settings;

    AdamW(Program program, TrainingSettings settings) {
        this.settings = settings;
        mean = new ParameterArrays(program);
        square = new ParameterArrays(program);
        decaying = decaying(program);
    }

    private static Set<Weight> decaying(Program program) {
        Set<Weight> decaying = new HashSet<>();
        for (Op op : program.ops()) {
            if (op instanceof Op.Linear linear) {
                decaying.add(linear.weight());
            }
        }
        for (Op op : program.ops()) {
            if (op instanceof Op.TokenEmbedding embedding) {
                decaying.remove(embedding.table());
            }
        }
        return decaying;
    }

    /** The running means of the gradients. */
    ParameterArrays mean() {
        return mean;
    }

    /** The running means of the gradients' squares. */
    ParameterArrays square() {
        return square;
    }

    /**
     * @param step how many steps were taken before this one
     * @param scale what the gradients are multiplied by first
     */
    void step(ParameterArrays weights, ParameterArrays gradients, int step, float learningRate, float scale) {
        for (Weight weight : weights.weights()) {
            float decay = decaying.contains(weight) ? (float) settings.weightDecay() : 0f;
            for (int layer = 0; layer < weight.layers(); layer++) {
                step(
                        weights.layer(weight, layer),
                        gradients.layer(weight, layer),
                        mean.layer(weight, layer),
                        square.layer(weight, layer),
                        new Factors(step, learningRate, scale, decay, settings));
            }
        }
    }

    private static void step(float[] weights, float[] gradients, float[] mean, float[] square, Factors factors) {
        float beta1 = factors.beta1;
        float beta2 = factors.beta2;
        float rest1 = 1f - beta1;
        float rest2 = 1f - beta2;
        float correction1 = factors.correction1;
        float correction2 = factors.correction2;
        float epsilon = factors.epsilon;
        for (int i = 0; i < weights.length; i++) {
            float gradient = gradients[i] * factors.scale;
            mean[i] = beta1 * mean[i] + rest1 * gradient;
            square[i] = beta2 * square[i] + rest2 * (gradient * gradient);
            float root = (float) Math.sqrt(square[i] * correction2);
            float update = mean[i] * correction1 / (root + epsilon) + factors.decay * weights[i];
            weights[i] -= factors.learningRate * update;
        }
    }

    /** The numbers of one step, rounded once. */
    private static final class Factors {
        private final float learningRate;
        private final float scale;
        private final float decay;
        private final float beta1;
        private final float beta2;
        private final float epsilon;

        /** What makes up for means that began at 0. */
        private final float correction1;

        private final float correction2;

        Factors(int step, float learningRate, float scale, float decay, TrainingSettings settings) {
            this.learningRate = learningRate;
            this.scale = scale;
            this.decay = decay;
            beta1 = (float) settings.beta1();
            beta2 = (float) settings.beta2();
            epsilon = (float) settings.epsilon();
            correction1 = (float) (1 / (1 - StrictMath.pow(settings.beta1(), step + 1)));
            correction2 = (float) (1 / (1 - StrictMath.pow(settings.beta2(), step + 1)));
        }
    }
}
