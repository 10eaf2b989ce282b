package io.github.tornadotransformers.taskgraphs.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.Emulator;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceGraph;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceTransfer;
import io.github.tornadotransformers.taskgraphs.memory.ArrayKey;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Without any one of its transfers a training step fails, or gives other results: none is there for nothing. */
@OnEmulator
class ForgottenTrainingTransferTest {
    private static final ModelConfig GPT2 = new Gpt2Config(new Sizes(19, 12, 8, 12, 3), 2, 1e-5f, true, true);
    private static final ModelConfig LLAMA = new LlamaConfig(
            new Sizes(19, 12, 8, 12, 2),
            new Heads(2, 1, 4),
            new Rope(10000, 4, new RopeScaling.None()),
            1e-6f,
            false,
            false,
            false);

    /** The transfer of a graph, by its place among the graph's. */
    record Cut(
            ModelConfig config,
            String graph,
            int index,
            DeviceTransfer.Movement movement,
            ArrayKey<?> array,
            boolean essential) {
        boolean keeps(DeviceGraph candidate, DeviceTransfer transfer) {
            return !candidate.name().equals(graph) || candidate.transfers().indexOf(transfer) != index;
        }

        @Override
        public String toString() {
            return config.modelType() + ": " + movement + " of " + array + " in " + graph + ", " + index;
        }
    }

    static Stream<Cut> cuts() {
        return Stream.of(GPT2, LLAMA).flatMap(config -> graphs(config).stream().flatMap(graph -> cuts(config, graph)));
    }

    private static <T> T onDevice(EmulatedDevice device, Function<DeviceInfo, T> action) {
        return Emulator.call(
                device, () -> action.apply(TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT)));
    }

    private static List<DeviceGraph> graphs(ModelConfig config) {
        return onDevice(new EmulatedDevice(), device -> {
            Program program = config.program(config.contextLength());
            return new TrainingGraphs(program, device).graphs();
        });
    }

    private static Stream<Cut> cuts(ModelConfig config, DeviceGraph graph) {
        List<Cut> cuts = new ArrayList<>();
        for (DeviceTransfer transfer : graph.transfers()) {
            cuts.add(new Cut(
                    config, graph.name(), cuts.size(), transfer.movement(), transfer.array(), transfer.essential()));
        }
        return cuts.stream();
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void isNoticed(Cut cut) {
        assertThat(givesTheHostsResults(cut.config(), cut::keeps))
                .as(cut.toString())
                .isEqualTo(!cut.essential());
    }

    /** And without having given up replays, as a plan does whose first graph cannot be replayed. */
    private static boolean givesTheHostsResults(ModelConfig config, BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        EmulatedDevice emulated = new EmulatedDevice();
        return onDevice(emulated, device -> givesTheHostsResults(config, device, kept)) && emulated.replays();
    }

    /** Two batches, the second after a step on the device and another on the host. */
    private static boolean givesTheHostsResults(
            ModelConfig config, DeviceInfo device, BiPredicate<DeviceGraph, DeviceTransfer> kept) {
        RandomData data = new RandomData(5);
        try (TrainingPair pair = TrainingPair.of(config, data, device, kept)) {
            for (int batch = 0; batch < 2; batch++) {
                pair.begin();
                for (int rows : new int[] {11, 7}) {
                    int[] tokens = data.ints(rows, config.vocabSize());
                    int[] targets = data.ints(rows, config.vocabSize());
                    pair.requireSameLossWithGradients(tokens, targets, 1f / (rows + batch));
                }
                pair.requireSameGradients();
                pair.descend(0.01f * (batch + 1));
                int[] tokens = data.ints(9, config.vocabSize());
                pair.requireSameLoss(tokens, data.ints(9, config.vocabSize()));
                pair.requireSameWeights();
                pair.host().weights().add(0.1f, pair.host().gradients());
                pair.device().weights().add(0.1f, pair.device().gradients());
            }
            return true;
        } catch (RuntimeException | AssertionError _) {
            return false;
        }
    }
}
