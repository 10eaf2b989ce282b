package io.github.tornadotransformers.taskgraphs.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A device is asked once; one that computes wrongly is refused with the cause. */
@OnEmulator
class DeviceProbesTest {
    private static final Wording ADVICE = Wording.of("use %s host", Term.ENGINE);
    private static final Finding FLUSHES = new Finding(Fault.SUBNORMALS, "1 + 1 gives 3 instead of 2");
    private static final Finding DIVIDES = new Finding(Fault.QUOTIENT, "1 / 1 gives 0 instead of 1");

    private DeviceInfo device;

    @BeforeEach
    void chooseDevice() {
        device = TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT);
    }

    /** Probes that find what they are told to, and count. */
    private static final class Told extends DeviceProbes {
        private final List<Finding> findings;
        private int asked;

        Told(Finding... findings) {
            this.findings = List.of(findings);
        }

        Told(BiConsumer<DeviceInfo, ProbeResult> inexact, Finding... findings) {
            super(inexact);
            this.findings = List.of(findings);
        }

        @Override
        ProbeResult probe(DeviceInfo device) {
            asked++;
            return new ProbeResult(findings, 12_345_678, 10_000_000);
        }
    }

    @Test
    void theEmulatorIsExact() {
        DeviceProbes probes = new DeviceProbes();
        assertThatCode(() -> probes.requireUsable(device, ADVICE)).doesNotThrowAnyException();
        assertThat(probes.results()).containsOnlyKeys(device);
    }

    @Test
    void eachDeviceIsProbedOnce() {
        Told probes = new Told();
        probes.requireUsable(device, ADVICE);
        probes.requireUsable(device, ADVICE);
        assertThat(probes.of(device)).hasToString("keeps the contract (probed in 12 ms, 10 of them compiling)");
        assertThat(probes.asked).isOne();
    }

    @Test
    void aRefusalNamesTheCauseAndWhatToDo() {
        assertThatThrownBy(() -> new Told(FLUSHES, DIVIDES).requireUsable(device, ADVICE))
                .isInstanceOf(DeviceException.class)
                .hasMessage(
                        "emulator (no device) (virtual 0:0) cannot compute in math strict: its driver flushes subnormals"
                                + " (1 + 1 gives 3 instead of 2); use engine host");
    }

    @Test
    void whoWantsToSeeWhatItDoesIsToldOnce() {
        List<String> told = new ArrayList<>();
        Told probes = new Told((which, found) -> told.add(which + ": " + found.findings()), FLUSHES);
        probes.requireUsable(device, ADVICE);
        probes.requireUsable(device, ADVICE);
        assertThat(told).containsExactly(device + ": [" + FLUSHES + "]");
        Told exact = new Told((which, _) -> told.add("not " + which));
        exact.requireUsable(device, ADVICE);
        assertThat(told).hasSize(1);
    }

    @Test
    void aReportNamesEveryFault() {
        assertThat(new Told(FLUSHES, DIVIDES).of(device))
                .hasToString(
                        "flushes subnormals (1 + 1 gives 3 instead of 2); divides wrongly (1 / 1 gives 0 instead of 1)"
                                + " (probed in 12 ms, 10 of them compiling)");
    }

    /** Its driver may be another's next time; a failure is no result. */
    @Test
    void aProbeThatCannotRunIsNoResult() {
        DeviceProbes probes = new DeviceProbes() {
            @Override
            ProbeResult probe(DeviceInfo device) {
                throw new DeviceException("no compiler");
            }
        };
        assertThatThrownBy(() -> probes.of(device)).hasMessage("no compiler");
        assertThat(probes.results()).isEmpty();
    }
}
