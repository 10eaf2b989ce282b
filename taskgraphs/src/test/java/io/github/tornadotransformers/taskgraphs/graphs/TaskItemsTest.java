package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@OnEmulator
class TaskItemsTest {
    static LongStream seeds() {
        return LongStream.range(0, 24);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyTaskOfAForwardPassHasTheItemsOfItsLoop(long seed, EmulatedDevice device) {
        RandomData data = new RandomData(seed);
        ModelConfig config = RandomConfigs.of(data);
        Program program = config.program(config.contextLength());
        DType dtype = DType.OF_MATRICES.get((int) (seed % 4));
        Weights weights = RandomModels.weights(program, dtype, data);
        DeviceOptions options = DeviceOptions.of(
                        TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT))
                .withGraph(seed % 3 == 0 ? GraphMode.FUSED : GraphMode.LAYERED)
                .withPrefillRows(data.between(1, 17));
        TaskItems items = new TaskItems();
        int length = Math.min(20, program.contextLength() - 1);
        try (TornadoForwardPass engine = TornadoForwardPass.open(program, dtype, _ -> weights, options, items.seen())) {
            engine.forward(data.ints(length, program.vocabSize()), 0);
            engine.forward(data.ints(1, program.vocabSize()), length);
        }
        items.requireLoops(device);
    }
}
