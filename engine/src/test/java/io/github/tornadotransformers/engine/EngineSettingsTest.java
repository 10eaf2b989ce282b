package io.github.tornadotransformers.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.graphs.GraphMode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class EngineSettingsTest {
    @Test
    void eachSettingChangesItselfAlone() {
        EngineSettings all = EngineSettings.of(EngineKind.TORNADO)
                .withDevice(new DeviceId(0, 1))
                .withMath(MathMode.FAST)
                .withDType(DType.BF16)
                .withContext(100)
                .withGraph(GraphMode.FUSED);
        assertThat(all.engine()).isEqualTo(EngineKind.TORNADO);
        assertThat(all.device()).contains(new DeviceId(0, 1));
        assertThat(all.math()).isEqualTo(MathMode.FAST);
        assertThat(all.dtype()).contains(DType.BF16);
        assertThat(all.context()).hasValue(100);
        assertThat(all.graph()).isEqualTo(GraphMode.FUSED);
        assertThat(EngineSettings.of(EngineKind.HOST)
                        .withThreads(3)
                        .withContext(5)
                        .threads())
                .hasValue(3);
    }

    @ParameterizedTest
    @EnumSource
    void aSettingOfAnotherKindOfEngineIsRefused(EngineKind engine) {
        EngineSettings settings = EngineSettings.of(engine);
        if (!engine.onDevice()) {
            assertThatThrownBy(() -> settings.withDevice(new DeviceId(0, 0)))
                    .isInstanceOf(InvalidRequest.class)
                    .hasMessage("device is for the engines on a device, and the engine is " + engine);
        }
        if (engine != EngineKind.HOST) {
            assertThatThrownBy(() -> settings.withThreads(1))
                    .isInstanceOf(InvalidRequest.class)
                    .hasMessage("threads is for the engine host, and the engine is " + engine);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, 0, 1025})
    void threadsHaveARange(int count) {
        assertThatThrownBy(() -> EngineSettings.of(EngineKind.HOST).withThreads(count))
                .isInstanceOf(InvalidRequest.class)
                .hasMessage("threads is " + count + ", expected 1 to 1024");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, LibraryModels.CONTEXT + 1})
    void theContextIsTheModelsAtMost(int positions, @TempDir Path folder) {
        ModelFolder model = ModelFolder.open(LibraryModels.withoutTokenizer(folder));
        assertThatThrownBy(() -> model.load(EngineSettings.of(EngineKind.SCALAR).withContext(positions)))
                .isInstanceOf(InvalidRequest.class)
                .hasMessage("context is " + positions
                        + ", expected 1 to 600, the positions that the model was trained for");
    }

    @Test
    void aDeviceNeedsTornadoVm(@TempDir Path folder) {
        ModelFolder model = ModelFolder.open(LibraryModels.withoutTokenizer(folder));
        assertThat(EngineSettings.automatic().engine()).isEqualTo(EngineKind.HOST);
        assertThatThrownBy(() -> model.load(EngineSettings.of(EngineKind.OPENCL)))
                .isInstanceOf(EngineException.class)
                .hasMessage("engine opencl: no TornadoVM SDK was found: https://www.tornadovm.org says how to get one;"
                        + " engine host needs none");
    }
}
