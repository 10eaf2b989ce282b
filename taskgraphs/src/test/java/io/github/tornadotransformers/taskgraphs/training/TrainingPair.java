package io.github.tornadotransformers.taskgraphs.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceGraph;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import io.github.tornadotransformers.training.TrainingPass;
import java.util.function.BiPredicate;

/** A random model whose gradients the oracle and a device compute, each from weights of its own. */
record TrainingPair(GradientPass host, TornadoTrainingPass device) implements AutoCloseable {
    static TrainingPair of(ModelConfig config, RandomData data, DeviceInfo device) {
        return of(config, data, device, (_, _) -> true);
    }

    /** @param kept as {@link DeviceGraph#build} takes it */
    static TrainingPair of(
            ModelConfig config, RandomData data, DeviceInfo device, BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        return of(config.program(config.contextLength()), data, device, kept);
    }

    static TrainingPair of(
            Program program, RandomData data, DeviceInfo device, BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        Weights weights = RandomModels.weights(program, DType.F32, data);
        return new TrainingPair(
                new TrainingPass(
                        program,
                        ParameterArrays.copyOf(program, weights),
                        new ParameterArrays(program),
                        new ScalarOps(),
                        new ScalarBackwardOps()),
                TornadoTrainingPass.open(program, ParameterArrays.copyOf(program, weights), device, kept));
    }

    Program program() {
        return host.program();
    }

    void begin() {
        host.begin();
        device.begin();
    }

    void requireSameLoss(int[] tokens, int[] targets) {
        assertThat(device.loss(tokens, targets)).as("loss").isEqualTo(host.loss(tokens, targets));
    }

    void requireSameLossWithGradients(int[] tokens, int[] targets, float scale) {
        double expected = host.lossAndGradients(tokens, targets, scale);
        assertThat(device.lossAndGradients(tokens, targets, scale)).as("loss").isEqualTo(expected);
    }

    void requireSameGradients() {
        device.readGradients();
        requireSame("gradient of ", device.gradients(), host.gradients());
    }

    void descend(float learningRate) {
        host.descend(learningRate);
        device.descend(learningRate);
    }

    void requireSameWeights() {
        device.readWeights();
        requireSame("weight ", device.weights(), host.weights());
    }

    private static void requireSame(String what, ParameterArrays actual, ParameterArrays expected) {
        for (Weight weight : expected.weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                Bits.assertSame(
                        what + weight.name() + " of layer " + layer,
                        actual.layer(weight, layer),
                        expected.layer(weight, layer));
            }
        }
    }

    @Override
    public void close() {
        host.close();
        device.close();
    }
}
