package io.github.tornadotransformers.taskgraphs.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.emulator.DeviceLimits;
import io.github.tornadotransformers.emulator.EmulatedDevice;
import io.github.tornadotransformers.emulator.Emulator;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.graphs.LayerKinds;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import io.github.tornadotransformers.training.InitialWeights;
import io.github.tornadotransformers.training.Trainer;
import io.github.tornadotransformers.training.TrainingPass;
import io.github.tornadotransformers.training.TrainingSettings;
import io.github.tornadotransformers.training.TrainingText;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import uk.ac.manchester.tornado.api.enums.TornadoDeviceType;

/** Training on the emulator gives the oracle's bits for random models of both families: losses, gradients, and what they lead to. */
@OnEmulator
class DeviceTrainingTest {
    private static final ModelConfig GPT2_OF_THREE = new Gpt2Config(new Sizes(19, 9, 12, 50, 3), 2, 1e-5f, true, true);
    private static final ModelConfig LLAMA_OF_FOUR = new LlamaConfig(
            new Sizes(23, 9, 12, 20, 4),
            new Heads(2, 1, 6),
            new Rope(10000, 6, new RopeScaling.None()),
            1e-6f,
            false,
            false,
            false);

    static LongStream seeds() {
        return LongStream.range(0, 30);
    }

    private static DeviceInfo device() {
        return TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
    }

    /** A sequence with a target for each token. */
    private record Sequence(int[] tokens, int[] targets) {
        static Sequence of(RandomData data, Program program) {
            int rows = data.between(1, Math.min(program.contextLength(), 150));
            return new Sequence(data.ints(rows, program.vocabSize()), data.ints(rows, program.vocabSize()));
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void gradientsOfABatchAndAStepAgainstThem(long seed) {
        RandomData data = new RandomData(seed);
        try (TrainingPair pair = TrainingPair.of(RandomConfigs.trainable(data), data, device())) {
            Sequence first = Sequence.of(data, pair.program());
            Sequence second = Sequence.of(data, pair.program());
            pair.begin();
            pair.requireSameLossWithGradients(first.tokens(), first.targets(), 0.01f);
            pair.requireSameGradients();
            pair.requireSameLoss(second.tokens(), second.targets());
            pair.requireSameLossWithGradients(second.tokens(), second.targets(), 0.3f);
            pair.requireSameGradients();
            pair.descend(0.1f);
            pair.requireSameLoss(first.tokens(), first.targets());
            pair.requireSameWeights();
            pair.begin();
            pair.requireSameLossWithGradients(first.tokens(), first.targets(), 1f);
            pair.requireSameGradients();
        }
    }

    /** Whose kernels work in groups. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void onAGpu(long seed) {
        Emulator.run(new EmulatedDevice(DeviceLimits.GPU), () -> gradientsOfABatchAndAStepAgainstThem(seed));
    }

    /** Whose arrays have the rows of a tile, of which one holds a token. */
    @Test
    void ofOnePositionOnAGpu() {
        Emulator.run(new EmulatedDevice(DeviceLimits.GPU), () -> {
            RandomData data = new RandomData(5);
            Program program = GPT2_OF_THREE.program(1);
            try (TrainingPair pair = TrainingPair.of(program, data, device(), (_, _) -> true)) {
                Sequence sequence = Sequence.of(data, program);
                pair.begin();
                pair.requireSameLossWithGradients(sequence.tokens(), sequence.targets(), 0.1f);
                pair.requireSameGradients();
            }
        });
    }

    /** A device whose buffers hold the weights of some layers, but not of all. */
    @Test
    void gradientsOfLayersInGroups() {
        for (ModelConfig config : List.of(GPT2_OF_THREE, LLAMA_OF_FOUR)) {
            DeviceLimits limits = new DeviceLimits(TornadoDeviceType.GPU, 1L << 20, 6300, 64, true);
            Emulator.run(new EmulatedDevice(limits), () -> {
                RandomData data = new RandomData(3);
                assertThat(new TrainingGraphs(config.program(9), device())
                                .groups()
                                .count())
                        .isEqualTo(2);
                try (TrainingPair pair = TrainingPair.of(config, data, device())) {
                    Sequence sequence = Sequence.of(data, pair.program());
                    pair.begin();
                    for (int i = 0; i < 2; i++) {
                        pair.requireSameLossWithGradients(sequence.tokens(), sequence.targets(), 0.1f);
                    }
                    pair.requireSameGradients();
                    pair.descend(0.1f);
                    pair.requireSameWeights();
                    pair.begin();
                    pair.requireSameLoss(sequence.tokens(), sequence.targets());
                }
            });
        }
    }

    /** Whose weights share arrays, in one group and in several. */
    @ParameterizedTest
    @ValueSource(longs = {1_000_000, 4200})
    void gradientsOfLayersOfTwoKinds(long maxAllocationBytes) {
        DeviceLimits limits = new DeviceLimits(TornadoDeviceType.GPU, 1L << 20, maxAllocationBytes, 64, true);
        Emulator.run(new EmulatedDevice(limits), () -> {
            RandomData data = new RandomData(3);
            Program program = LayerKinds.mixed(LLAMA_OF_FOUR.program(9));
            assertThat(program.kinds()).hasSize(2);
            try (TrainingPair pair = TrainingPair.of(program, data, device(), (_, _) -> true)) {
                Sequence sequence = Sequence.of(data, program);
                pair.begin();
                for (int i = 0; i < 2; i++) {
                    pair.requireSameLossWithGradients(sequence.tokens(), sequence.targets(), 0.1f);
                }
                pair.requireSameGradients();
                pair.descend(0.1f);
                pair.requireSameWeights();
            }
        });
    }

    /** What a run of several steps with AdamW, which is the host's, tells and leaves. */
    private record Run(List<Trainer.Step> steps, List<LossHistory.Validation> validation, ParameterArrays weights) {
        static Run of(GradientPass pass, TrainingText text, TrainingSettings settings) {
            List<Trainer.Step> steps = new ArrayList<>();
            Trainer trainer = new Trainer(pass, text, settings);
            trainer.run(
                    settings.steps(),
                    new Trainer.Observer() {
                        @Override
                        public void stepped(Trainer of, Trainer.Step step) {
                            steps.add(step);
                        }

                        @Override
                        public void evaluated(Trainer of, LossHistory.Validation validation, boolean best) {}
                    },
                    () -> false);
            return new Run(steps, trainer.history().validation(), trainer.weights());
        }
    }

    @Test
    void aTrainedModelIsTheHosts(@TempDir Path folder) {
        Tokenizer words = Tokenizer.load(TestTokenizers.byteLevel(folder));
        Program program = new Gpt2Config(
                        new Sizes(TestTokenizers.BYTE_LEVEL_VOCAB_SIZE, 16, 24, 48, 2), 2, 1e-5f, true, true)
                .program(16);
        TrainingText text = TrainingText.of("the owl sleeps by day\n".repeat(20), words, 0.2, 16);
        TrainingSettings settings = new TrainingSettings(4, 16, 3, 1e-2, 1e-3, 1, 0.1, 0.9, 0.99, 1e-8, 1, 2, 1);
        Run expected = Run.of(
                new TrainingPass(
                        program,
                        InitialWeights.of(program, 1),
                        new ParameterArrays(program),
                        new ScalarOps(),
                        new ScalarBackwardOps()),
                text,
                settings);
        try (TornadoTrainingPass device = TornadoTrainingPass.open(program, InitialWeights.of(program, 1), device())) {
            Run actual = Run.of(device, text, settings);
            assertThat(actual.steps()).hasSize(4).isEqualTo(expected.steps());
            assertThat(actual.validation()).hasSize(2).isEqualTo(expected.validation());
            expected.weights()
                    .weights()
                    .forEach(weight -> assertThat(actual.weights().layer(weight, 0))
                            .as(weight.name())
                            .isEqualTo(expected.weights().layer(weight, 0)));
        }
    }

    @Test
    void aSequenceThatTheProgramCannotHoldIsRefused() {
        RandomData data = new RandomData(1);
        try (TrainingPair pair = TrainingPair.of(GPT2_OF_THREE, data, device())) {
            TornadoTrainingPass device = pair.device();
            device.begin();
            assertThatThrownBy(() -> device.loss(new int[0], new int[0])).hasMessageContaining("0 tokens");
            assertThatThrownBy(() -> device.loss(new int[10], new int[10])).hasMessageContaining("1 to 9");
            assertThatThrownBy(() -> device.loss(new int[1], new int[2])).hasMessageContaining("2 targets");
            assertThatThrownBy(() -> device.loss(new int[] {19}, new int[1])).hasMessageContaining("19");
        }
    }

    @Test
    void closingWithoutAStepFreesAll() {
        TrainingPair.of(GPT2_OF_THREE, new RandomData(1), device()).close();
    }

    /** What does not fit is refused before anything is allocated; what does is what was planned. */
    @Test
    void memoryIsPlanned() {
        Program program = new LlamaConfig(
                        new Sizes(99, 40, 36, 50, 2),
                        new Heads(2, 1, 6),
                        new Rope(10000, 6, new RopeScaling.None()),
                        1e-6f,
                        false,
                        false,
                        false)
                .program(40);
        ParameterArrays weights = InitialWeights.of(program, 1);
        EmulatedDevice device = new EmulatedDevice();
        long planned = Emulator.call(device, () -> {
            long bytes = new TrainingGraphs(program, device()).plan(device()).bytes();
            try (TornadoTrainingPass pass = TornadoTrainingPass.open(program, weights, device())) {
                pass.begin();
                pass.lossAndGradients(new int[40], new int[40], 1f);
                pass.descend(0.1f);
                assertThat(device.usedBytes()).isBetween(bytes * 19 / 20, bytes + 2_000);
            }
            assertThat(device.usedBytes()).isZero();
            return bytes;
        });
        EmulatedDevice small =
                new EmulatedDevice(new DeviceLimits(TornadoDeviceType.GPU, planned - 1, 1L << 20, 64, true));
        Emulator.run(small, () -> {
            assertThatThrownBy(() -> TornadoTrainingPass.open(program, weights, device()))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageMatching("training needs 0\\.\\d+ GB, but .* has 0\\.\\d+ GB: try a shorter sequence, or"
                            + " engine host");
            assertThat(small.usedBytes()).isZero();
        });
    }
}
