package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.graphs.TaskItems;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@OnEmulator
class TrainingTaskItemsTest {
    static LongStream seeds() {
        return LongStream.range(0, 12);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyTaskOfAStepHasTheItemsOfItsLoop(long seed, EmulatedDevice device) {
        RandomData data = new RandomData(seed);
        DeviceInfo info = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
        TaskItems items = new TaskItems();
        try (TrainingPair pair = TrainingPair.of(RandomConfigs.trainable(data), data, info, items.seen())) {
            int length = Math.min(9, pair.program().contextLength());
            int[] tokens = data.ints(length, pair.program().vocabSize());
            pair.device().begin();
            pair.device().loss(tokens, tokens);
            pair.device().lossAndGradients(tokens, tokens, 1f);
            pair.device().readGradients();
            pair.device().descend(0.1f);
            pair.device().readWeights();
        }
        items.requireLoops(device);
    }
}
