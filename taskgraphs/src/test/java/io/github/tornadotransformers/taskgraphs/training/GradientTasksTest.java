package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.emulator.DeviceLimits;
import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.Emulator;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The gradient of each Op by itself, as a task graph on the emulator, gives the oracle's bits. */
@OnEmulator
class GradientTasksTest {
    static Stream<GradientOpCase> ops() {
        return LongStream.range(0, 12).boxed().flatMap(seed -> {
            RandomData data = new RandomData(seed);
            ModelConfig config = seed % 2 == 0 ? RandomModels.gpt2(data) : RandomModels.llama(data);
            Program program = config.program(config.contextLength());
            return GradientOpCase.of(program).stream();
        });
    }

    @ParameterizedTest
    @MethodSource("ops")
    void givesTheOraclesBits(GradientOpCase op) {
        DeviceInfo device = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
        op.requireTheOraclesBits(device, new RandomData(7));
    }

    /** On a GPU products are taken in tiles. */
    @ParameterizedTest
    @MethodSource("products")
    void givesTheOraclesBitsInGroups(GradientOpCase op) {
        Emulator.run(new EmulatedDevice(DeviceLimits.GPU), () -> givesTheOraclesBits(op));
    }

    static Stream<GradientOpCase> products() {
        return ops().filter(each -> each.trained().op() instanceof Op.Linear);
    }
}
