package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import uk.ac.manchester.tornado.api.common.TornadoDevice;
import uk.ac.manchester.tornado.api.runtime.TornadoRuntimeProvider;

@OnEmulator
class OnEmulatorTest {
    private TornadoDevice before;

    private static TornadoDevice current() {
        return TornadoRuntimeProvider.getTornadoRuntime().getDefaultDevice();
    }

    @BeforeEach
    void remember() {
        before = current();
    }

    @Test
    void aTestSeesTheDeviceOfItsSetUp(EmulatedDevice device) {
        assertThat(device).isSameAs(before).isSameAs(current());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aParameterizedTestDoesToo(int ignored, EmulatedDevice device) {
        assertThat(device).isSameAs(before).isSameAs(current());
    }
}
