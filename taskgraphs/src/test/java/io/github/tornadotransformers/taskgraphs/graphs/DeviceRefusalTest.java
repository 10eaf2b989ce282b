package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.Emulator;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** One line for each device that cannot do what is asked: what was found, what was expected, what to do. */
@OnEmulator
class DeviceRefusalTest {
    private static final Program PROGRAM =
            new Gpt2Config(new Sizes(19, 30, 12, 20, 1), 2, 1e-5f, true, true).program(30);
    private static final Weights WEIGHTS = RandomModels.weights(PROGRAM, DType.F32, new RandomData(1));

    private static TornadoForwardPass open(MathMode math) {
        DeviceInfo device = TornadoDevices.choose(Optional.empty(), Optional.empty(), math);
        return TornadoForwardPass.open(
                PROGRAM, DType.F32, _ -> WEIGHTS, DeviceOptions.of(device).withMath(math));
    }

    @Test
    void thereIsNoSuchDevice() {
        assertThatThrownBy(() -> TornadoDevices.choose(Optional.of(Backend.PTX), Optional.empty(), MathMode.STRICT))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("there is no device ptx, only [emulator");
        DeviceId far = new DeviceId(3, 1);
        assertThatThrownBy(() -> TornadoDevices.choose(Optional.empty(), Optional.of(far), MathMode.STRICT))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("there is no device 3:1");
    }

    @Test
    void aDeviceIsTwoNumbers() {
        assertThat(DeviceId.parse("1:02")).isEqualTo(new DeviceId(1, 2));
        for (String text : new String[] {"", "1", "1:", ":1", "1:2:3", "a:b", "-1:0", "1:99999999999"}) {
            assertThatThrownBy(() -> DeviceId.parse(text))
                    .isInstanceOf(InvalidRequest.class)
                    .hasMessage("device is " + text + ", expected two numbers as in 0:1");
        }
    }

    @Test
    void tokensAndPositionsMustFit() {
        try (TornadoForwardPass forward = open(MathMode.STRICT)) {
            assertThatThrownBy(() -> forward.forward(new int[] {19}, 0)).hasMessageContaining("vocabulary of 19");
            assertThatThrownBy(() -> forward.forward(new int[2], 29)).hasMessageContaining("context of 30");
            assertThatThrownBy(() -> forward.forward(new int[0], 0)).hasMessageContaining("at least one token");
        }
    }

    @Test
    void tracingBeginsWithTheFirstToken() {
        try (TornadoForwardPass forward = open(MathMode.STRICT)) {
            forward.forward(new int[1], 0);
            assertThatThrownBy(() -> forward.trace((_, _, _, _, _) -> {})).isInstanceOf(IllegalStateException.class);
        }
    }

    /** Nothing was written where no kernel of a prompt that was prepared for would write again. */
    @Test
    void preparingLeavesNoTrace() {
        try (TornadoForwardPass prepared = open(MathMode.STRICT);
                TornadoForwardPass other = open(MathMode.STRICT)) {
            prepared.prepare(20);
            int kernels = prepared.kernelsCompiled();
            assertThat(prepared.forward(new int[20], 0).clone()).isEqualTo(other.forward(new int[20], 0));
            assertThat(prepared.kernelsCompiled()).isEqualTo(kernels).isEqualTo(other.kernelsCompiled());
        }
    }

    @Test
    void aDriverThatReplaysNothingGivesTheSameBitsFromAsMuchMemory() {
        EmulatedDevice replaying = new EmulatedDevice();
        EmulatedDevice refusing = new EmulatedDevice();
        refusing.refuseReplays();
        assertThat(Emulator.call(refusing, () -> logitsAndMemory(refusing)))
                .isEqualTo(Emulator.call(replaying, () -> logitsAndMemory(replaying)));
        assertThat(refusing.usedBytes()).isZero();
    }

    private static List<Object> logitsAndMemory(EmulatedDevice device) {
        try (TornadoForwardPass forward = open(MathMode.STRICT)) {
            List<Object> seen = new ArrayList<>();
            for (int position = 0; position < 3; position++) {
                seen.add(Arrays.hashCode(forward.forward(new int[] {position}, position)));
                seen.add(device.usedBytes());
            }
            return seen;
        }
    }

    /** Its memory would be there for every layer. */
    @Test
    void aWeightOfSomeLayersIsNamed() {
        Block block = PROGRAM.blocks().getFirst();
        Block shorter = new Block(block.ops().subList(0, block.ops().size() - 1));
        Program differing = new Program(
                PROGRAM.family(),
                PROGRAM.vocabSize(),
                PROGRAM.attention(),
                PROGRAM.embedding(),
                List.of(block, shorter),
                PROGRAM.head(),
                PROGRAM.residual(),
                PROGRAM.logits());
        DeviceInfo device = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
        assertThatThrownBy(() -> TornadoForwardPass.open(differing, DType.F32, _ -> WEIGHTS, DeviceOptions.of(device)))
                .isInstanceOf(DeviceException.class)
                .hasMessage("only some layers of this model have downProjWeight, which a device cannot hold yet: use"
                        + " engine host");
    }
}
