package io.github.tornadotransformers.benchmarks.jmh;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every Op of every family as a graph of its own, on the emulator. */
@OnEmulator
class DeviceRunTest {
    private DeviceInfo device;

    static Stream<Case> ops() {
        List<String> models = ModelFamilies.all().stream()
                .map(family -> "tiny-" + family.modelType())
                .toList();
        return new Selection(Map.of("model", models, "engine", List.of("tornado"))).ops().stream();
    }

    static Stream<Case> addingOps() {
        return ops().filter(of -> of.op().equals("oProj"));
    }

    @BeforeEach
    void choose() {
        device = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
    }

    @ParameterizedTest
    @MethodSource("ops")
    void isFoundRightAndRunsAgain(Case of) {
        try (DeviceRun run = DeviceRun.open(of, device)) {
            assertThatCode(() -> {
                        run.requireRight();
                        run.run();
                        run.run();
                    })
                    .doesNotThrowAnyException();
        }
    }

    @ParameterizedTest
    @MethodSource("addingOps")
    void whatAnotherRunHasAddedIsFoundWrong(Case of) {
        try (DeviceRun run = DeviceRun.open(of, device)) {
            run.run();

            assertThatThrownBy(run::requireRight).hasMessageStartingWith("engine tornado is wrong at oProj (");
        }
    }
}
