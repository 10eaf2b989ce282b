package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.host.VectorBackwardOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TrainingPassTest {
    /** How far a directional derivative moves the loss: far above its rounding, far below where it bends. */
    private static final double LOSS_CHANGE = 3e-3;

    /** Against weights of about 1. */
    private static final double MAX_STEP = 0.02;

    private static final double TOLERANCE = 1e-2;

    /** A flatter slope drowns in the rounding of a float32 loss. */
    private static final double MIN_NORM = 0.01;

    static LongStream seeds() {
        return LongStream.range(0, 24);
    }

    /** A random model, a random sequence, and the gradients of its mean loss. */
    private static final class Example {
        private final Program program;
        private final ParameterArrays weights;
        private final ParameterArrays gradients;
        private final TrainingPass pass;
        private final int[] tokens;
        private final int[] targets;

        Example(long seed, HostOps ops, BackwardOps backwardOps) {
            RandomData data = new RandomData(seed);
            ModelConfig config = RandomConfigs.trainable(data);
            program = config.program(config.contextLength());
            weights = ParameterArrays.copyOf(program, RandomModels.weights(program, DType.F32, data));
            gradients = new ParameterArrays(program);
            pass = new TrainingPass(program, weights, gradients, ops, backwardOps);
            int rows = Math.min(program.contextLength(), data.between(1, 40));
            tokens = data.ints(rows, program.vocabSize());
            targets = data.ints(rows, program.vocabSize());
        }

        double lossAndGradients() {
            return pass.lossAndGradients(tokens, targets, 1f / tokens.length) / tokens.length;
        }

        double loss() {
            return pass.loss(tokens, targets) / tokens.length;
        }
    }

    /**
     * Each weight is moved along its gradient, blurred by as much noise, so that a wrong element cannot hide behind right
     * ones.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void gradientsAreTheSlopesOfTheLoss(long seed) {
        Example example = new Example(seed, new ScalarOps(), new ScalarBackwardOps());
        example.lossAndGradients();
        RandomData data = new RandomData(seed + 1000);
        for (Weight weight : example.gradients.weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                float[] gradient = example.gradients.layer(weight, layer);
                double norm = Math.sqrt(product(gradient, gradient));
                if (norm > MIN_NORM) {
                    float[] direction = blurred(gradient, norm, data);
                    double expected = product(gradient, direction);
                    double found = slope(example, example.weights.layer(weight, layer), direction, expected);
                    assertThat(found)
                            .as(weight.name() + " of layer " + layer)
                            .isCloseTo(expected, within(TOLERANCE * Math.abs(expected) + TOLERANCE * MIN_NORM));
                }
            }
        }
    }

    private static float[] blurred(float[] gradient, double norm, RandomData data) {
        float[] direction = data.floats(gradient.length);
        double noise = 1 / Math.sqrt(gradient.length);
        for (int i = 0; i < direction.length; i++) {
            direction[i] = (float) (gradient[i] / norm + noise * direction[i]);
        }
        return direction;
    }

    private static double product(float[] a, float[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (double) a[i] * b[i];
        }
        return sum;
    }

    /** Central differences of two steps, extrapolated to none (Richardson). */
    private static double slope(Example example, float[] weights, float[] direction, double expected) {
        double step = Math.min(LOSS_CHANGE / Math.abs(expected), MAX_STEP);
        double coarse = centralSlope(example, weights, direction, step);
        double fine = centralSlope(example, weights, direction, step / 2);
        return (4 * fine - coarse) / 3;
    }

    private static double centralSlope(Example example, float[] weights, float[] direction, double step) {
        float[] kept = weights.clone();
        double ahead = lossAt(example, weights, kept, direction, step);
        double behind = lossAt(example, weights, kept, direction, -step);
        System.arraycopy(kept, 0, weights, 0, kept.length);
        return (ahead - behind) / (2 * step);
    }

    private static double lossAt(Example example, float[] weights, float[] kept, float[] direction, double step) {
        for (int i = 0; i < weights.length; i++) {
            weights[i] = (float) (kept[i] + step * direction[i]);
        }
        return example.loss();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void vectorOpsGiveTheScalarBitsForWholeModels(long seed) {
        Example scalar = new Example(seed, new ScalarOps(), new ScalarBackwardOps());
        double expected = scalar.lossAndGradients();
        try (VectorOps ops = new VectorOps(1 + (int) (seed % 4))) {
            Example vector = new Example(seed, ops, new VectorBackwardOps(ops));
            assertThat(vector.lossAndGradients()).as("loss").isEqualTo(expected);
            for (Weight weight : scalar.gradients.weights()) {
                for (int layer = 0; layer < weight.layers(); layer++) {
                    Bits.assertSame(
                            weight.name() + " of layer " + layer,
                            vector.gradients.layer(weight, layer),
                            scalar.gradients.layer(weight, layer));
                }
            }
        }
    }

    /** What one position more takes, counted by hand for a model of each family. */
    @Test
    void memoryIsThatOfWhatIsKept() {
        long scores = 2L * TinyTraining.CONTEXT;
        long gpt2Block = 24 + 72 + scores + 24 + 24 + 24 + 2 * 48 + 24;
        long gpt2Buffers = 24 + 24 + 72 + scores + 24 + 48 + 24 + 24 + 290;
        long gpt2 = 2 * gpt2Block + 4 * 24 + 290 + gpt2Buffers + 2 * 24;
        Program program = TinyTraining.gpt2().program(TinyTraining.CONTEXT);
        long parameters = TinyTraining.gpt2().parameters();
        assertThat(TrainingMemory.bytes(program, 3)).isEqualTo(4 * (3 * parameters + TinyTraining.CONTEXT * gpt2));

        scores = 4L * TinyTraining.CONTEXT;
        long llamaBlock = 24 + 48 + scores + 24 + 24 + 24 + 80 + 40 + 24;
        long llamaBuffers = 24 + 24 + 48 + scores + 24 + 80 + 40 + 24 + 24 + 290;
        long llama = 2 * llamaBlock + 24 + 24 + 24 + 290 + llamaBuffers + 2 * 12;
        program = TinyTraining.llama().program(TinyTraining.CONTEXT);
        parameters = TinyTraining.llama().parameters();
        assertThat(TrainingMemory.bytes(program, 2)).isEqualTo(4 * (2 * parameters + TinyTraining.CONTEXT * llama));
    }

    @Test
    void gradientsOfSequencesAddUp() {
        Example once = new Example(3, new ScalarOps(), new ScalarBackwardOps());
        once.lossAndGradients();
        Example twice = new Example(3, new ScalarOps(), new ScalarBackwardOps());
        twice.lossAndGradients();
        twice.lossAndGradients();
        for (Weight weight : once.gradients.weights()) {
            float[] expected = once.gradients.layer(weight, 0).clone();
            if (!weight.name().equals("tokenEmbedding")) {
                for (int i = 0; i < expected.length; i++) {
                    expected[i] *= 2;
                }
                Bits.assertSame(weight.name(), twice.gradients.layer(weight, 0), expected);
            }
        }
    }

    @Test
    void aSequenceThatTheProgramCannotHoldIsRefused() {
        Example example = new Example(5, new ScalarOps(), new ScalarBackwardOps());
        int context = example.program.contextLength();
        int vocabSize = example.program.vocabSize();
        assertThatThrownBy(() -> example.pass.loss(new int[0], new int[0])).hasMessageContaining("0 tokens");
        assertThatThrownBy(() -> example.pass.loss(new int[context + 1], new int[context + 1]))
                .hasMessageContaining("1 to " + context);
        assertThatThrownBy(() -> example.pass.loss(new int[1], new int[2])).hasMessageContaining("2 targets");
        int[] outside = new int[1];
        Arrays.fill(outside, vocabSize);
        assertThatThrownBy(() -> example.pass.loss(outside, new int[1])).hasMessageContaining("" + vocabSize);
        assertThatThrownBy(() -> example.pass.loss(new int[1], new int[] {-1})).hasMessageContaining("-1");
    }
}
