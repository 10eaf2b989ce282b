package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static uk.ac.manchester.tornado.api.enums.DataTransferMode.EVERY_EXECUTION;

import org.junit.jupiter.api.Test;
import uk.ac.manchester.tornado.api.ImmutableTaskGraph;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.TornadoExecutionPlan;
import uk.ac.manchester.tornado.api.TornadoRuntime;
import uk.ac.manchester.tornado.api.exceptions.TornadoBackendNotFound;
import uk.ac.manchester.tornado.api.exceptions.TornadoDeviceNotFound;
import uk.ac.manchester.tornado.api.runtime.TornadoRuntimeProvider;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/** Nobody is shown the emulator as a device who did not ask for it. */
class StandInTest {
    private final FloatArray x = new FloatArray(1);
    private final ImmutableTaskGraph graph = new TaskGraph("g")
            .transferToDevice(EVERY_EXECUTION, x)
            .task("add", Kernels::add, x, 1f)
            .transferToHost(EVERY_EXECUTION, x)
            .snapshot();

    @Test
    void outsideTheEmulatorThereIsNoBackend() {
        assertThat(TornadoRuntimeProvider.getTornadoRuntime().getNumBackends()).isZero();
    }

    @Test
    void outsideTheEmulatorThereIsNoDefaultDevice() {
        TornadoRuntime runtime = TornadoRuntimeProvider.getTornadoRuntime();
        assertThatThrownBy(runtime::getDefaultDevice)
                .isInstanceOf(TornadoBackendNotFound.class)
                .hasMessage("there are 0 backends, but none of index 0");
    }

    @Test
    void outsideTheEmulatorAPlanIsRefused() {
        assertThatThrownBy(() -> new TornadoExecutionPlan(graph))
                .isInstanceOf(EmulatorException.class)
                .hasMessage(
                        "TornadoVM is not here: this JVM holds its compile-time stand-in, which runs nothing; start it with"
                                + " TornadoVM's launcher, tornado");
    }

    @Test
    void insideTheEmulatorItsDeviceIsTheOnlyOne() {
        EmulatedDevice device = new EmulatedDevice();
        Emulator.run(device, () -> {
            TornadoRuntime runtime = TornadoRuntimeProvider.getTornadoRuntime();
            assertThat(runtime.getNumBackends()).isEqualTo(1);
            assertThat(runtime.getBackend(0).getAllDevices()).containsExactly(device);
            assertThat(TornadoExecutionPlan.getDevice(0, 0)).isSameAs(device);
            assertThatThrownBy(() -> TornadoExecutionPlan.getDevice(0, 1)).isInstanceOf(TornadoDeviceNotFound.class);
        });
    }

    @Test
    void aPlanMadeInsideRunsOutside() {
        TornadoExecutionPlan plan = Emulator.call(new EmulatedDevice(), () -> new TornadoExecutionPlan(graph));
        plan.execute();
        assertThat(x.get(0)).isEqualTo(1f);
    }

    @Test
    void aDeviceOfAnotherEmulatorIsRefused() {
        TornadoExecutionPlan plan = Emulator.call(new EmulatedDevice(), () -> new TornadoExecutionPlan(graph));
        assertThatThrownBy(() -> plan.withDevice(new EmulatedDevice()))
                .hasMessage("the emulator has one device, and this is not it: emulator (no device)");
    }

    @Test
    void theDevicesNameSaysWhatItIs() {
        assertThat(new EmulatedDevice().getDeviceName()).isEqualTo("emulator (no device)");
    }
}
