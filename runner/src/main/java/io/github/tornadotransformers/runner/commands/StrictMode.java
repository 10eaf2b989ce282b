package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.probe.DeviceProbes;
import io.github.tornadotransformers.taskgraphs.probe.Finding;
import java.util.List;

/**
 * Whether a device can run in strict mode.
 *
 * @param reasons why not
 */
record StrictMode(List<String> reasons) {
    /** Asks the probe; a driver that cannot compile it is a reason, too. */
    static StrictMode of(DeviceInfo device, DeviceProbes probes) {
        try {
            return new StrictMode(
                    probes.of(device).findings().stream().map(Finding::toString).toList());
        } catch (DeviceException e) {
            return new StrictMode(List.of(OptionNames.message(e)));
        }
    }

    boolean holds() {
        return reasons.isEmpty();
    }

    @Override
    public String toString() {
        return holds() ? "strict mode: yes" : "strict mode: no: " + String.join("; ", reasons);
    }
}
