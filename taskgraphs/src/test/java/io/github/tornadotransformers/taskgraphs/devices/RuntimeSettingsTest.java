package io.github.tornadotransformers.taskgraphs.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RuntimeSettingsTest {
    private static final String FMA = "tornado.enable.fma";
    private static final String MEMORY = "tornado.device.memory";

    private String fma;
    private String memory;

    @BeforeEach
    void remember() {
        fma = System.clearProperty(FMA);
        memory = System.clearProperty(MEMORY);
    }

    @AfterEach
    void restore() {
        restore(FMA, fma);
        restore(MEMORY, memory);
    }

    private static void restore(String key, String value) {
        if (value == null) {
            System.clearProperty(key);
        } else {
            System.setProperty(key, value);
        }
    }

    @Test
    void strictModeForbidsFusing() {
        RuntimeSettings.install(MathMode.STRICT);
        assertThat(System.getProperty(FMA)).isEqualTo("False");
        assertThat(RuntimeSettings.jvmArguments(MathMode.STRICT))
                .contains("-Dtornado.enable.fma=False", "-Dtornado.recover.bailout=False")
                .doesNotContain("-Dtornado.enable.fma=True");
    }

    @Test
    void aSettingThatChangesBitsIsRefused() {
        System.setProperty(FMA, "true");
        assertThatThrownBy(() -> RuntimeSettings.install(MathMode.STRICT))
                .isInstanceOf(DeviceException.class)
                .hasMessageStartingWith("-Dtornado.enable.fma=true rules out math strict, which needs False");
    }

    @Test
    void aProcessHasOneMode() {
        RuntimeSettings.install(MathMode.STRICT);
        assertThatThrownBy(() -> RuntimeSettings.install(MathMode.FAST)).isInstanceOf(DeviceException.class);
    }

    @Test
    void aUsersLimitIsKept() {
        System.setProperty(MEMORY, "3GB");
        RuntimeSettings.install(MathMode.STRICT);
        assertThat(System.getProperty(MEMORY)).isEqualTo("3GB");
    }
}
