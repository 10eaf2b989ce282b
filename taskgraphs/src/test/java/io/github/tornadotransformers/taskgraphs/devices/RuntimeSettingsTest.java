package io.github.tornadotransformers.taskgraphs.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RuntimeSettingsTest {
    private static final String FMA = "tornado.enable.fma";
    private static final String FAST_MATH = "tornado.enable.fastMathOptimizations";
    private static final String MEMORY = "tornado.device.memory";

    private String fma;
    private String fastMath;
    private String memory;

    @BeforeEach
    void remember() {
        fma = System.clearProperty(FMA);
        fastMath = System.clearProperty(FAST_MATH);
        memory = System.clearProperty(MEMORY);
    }

    @AfterEach
    void restore() {
        restore(FMA, fma);
        restore(FAST_MATH, fastMath);
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
    void productsAreFusedInBothModes() {
        for (MathMode math : MathMode.values()) {
            assertThat(RuntimeSettings.jvmArguments(math))
                    .contains("-Dtornado.enable.fma=True", "-Dtornado.recover.bailout=False");
        }
    }

    @Test
    void strictModeForbidsApproximating() {
        RuntimeSettings.install(MathMode.STRICT);
        assertThat(System.getProperty(FAST_MATH)).isEqualTo("False");
        assertThat(RuntimeSettings.jvmArguments(MathMode.STRICT))
                .contains("-Dtornado.enable.fastMathOptimizations=False", "-Dtornado.opencl.compiler.flags=-w");
    }

    @Test
    void aSettingThatChangesBitsIsRefused() {
        System.setProperty(FMA, "false");
        assertThatThrownBy(() -> RuntimeSettings.install(MathMode.STRICT))
                .isInstanceOf(DeviceException.class)
                .hasMessageStartingWith("-Dtornado.enable.fma=false rules out math strict, which needs True");
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
