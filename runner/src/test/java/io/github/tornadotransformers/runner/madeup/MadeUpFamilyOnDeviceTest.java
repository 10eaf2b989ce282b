package io.github.tornadotransformers.runner.madeup;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOptions;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import io.github.tornadotransformers.taskgraphs.graphs.TornadoForwardPass;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.Generations;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A device, here the emulator, runs the family that only tests know: its norms behind branches, its window, its cap. */
@OnEmulator
class MadeUpFamilyOnDeviceTest {
    private static final MadeUpConfig CONFIG = new MadeUpFamily().examples().getFirst();
    private static final int[] PROMPT = {3, 14, 15, 9, 2, 6, 5, 35, 8, 9, 7, 9};

    @TempDir
    private Path folder;

    private Checkpoint checkpoint;

    static Stream<Arguments> typesAndGraphs() {
        return DType.OF_MATRICES.stream()
                .flatMap(dtype -> Arrays.stream(GraphMode.values()).map(graph -> Arguments.of(dtype, graph)));
    }

    @BeforeEach
    void write() {
        checkpoint = TestCheckpoints.write(folder, CONFIG, 8);
    }

    @ParameterizedTest
    @MethodSource("typesAndGraphs")
    void hasTheDefinitionsBits(DType dtype, GraphMode graph) {
        try (ForwardPass device = device(dtype, graph);
                ForwardPass scalar = scalar(dtype)) {
            Bits.assertSame("prompt", device.forward(PROMPT, 0), scalar.forward(PROMPT, 0));
            for (int position = PROMPT.length; position < PROMPT.length + 5; position++) {
                int[] token = {position};
                Bits.assertSame(
                        "position " + position, device.forward(token, position), scalar.forward(token, position));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("typesAndGraphs")
    void generatesTheSameTokens(DType dtype, GraphMode graph) {
        try (ForwardPass device = device(dtype, graph);
                ForwardPass scalar = scalar(dtype)) {
            int[] expected = generated(scalar);
            assertThat(expected).hasSize(12);
            assertThat(generated(device)).isEqualTo(expected);
        }
    }

    private ForwardPass scalar(DType dtype) {
        EngineSettings settings = EngineSettings.of(EngineKind.SCALAR).withDType(dtype);
        return Engines.open(checkpoint, settings).forward();
    }

    private ForwardPass device(DType dtype, GraphMode graph) {
        Program program = CONFIG.program(CONFIG.contextLength());
        DeviceOptions options = DeviceOptions.of(
                        TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT))
                .withGraph(graph)
                .withPrefillRows(8);
        return TornadoForwardPass.open(program, dtype, memory -> checkpoint.load(program, dtype, memory), options);
    }

    private static int[] generated(ForwardPass forward) {
        return Generations.sampled(forward, PROMPT, SamplingOptions.DEFAULT, GenerationOptions.ofTokens(12))
                .ids();
    }
}
