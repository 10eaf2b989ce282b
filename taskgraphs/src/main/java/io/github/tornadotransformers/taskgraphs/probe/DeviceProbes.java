package io.github.tornadotransformers.taskgraphs.probe;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.RuntimeSettings;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/** Probes devices for strict mode, each once. */
public class DeviceProbes {
    private final Map<DeviceInfo, ProbeResult> results = new LinkedHashMap<>();
    private final Optional<BiConsumer<DeviceInfo, ProbeResult>> inexact;

    /** Which refuse a device that is not exact. */
    public DeviceProbes() {
        this.inexact = Optional.empty();
    }

    /** @param inexact is told of each device that is not exact, which is not refused: to see what else it does wrong */
    public DeviceProbes(BiConsumer<DeviceInfo, ProbeResult> inexact) {
        this.inexact = Optional.of(inexact);
    }

    /**
     * What is found on a device.
     *
     * @throws DeviceException if the probe cannot be compiled or does not run there, or the process runs with settings that rule
     *     strict mode out
     */
    public synchronized ProbeResult of(DeviceInfo device) {
        ProbeResult known = results.get(device);
        if (known == null) {
            RuntimeSettings.install(MathMode.STRICT);
            RuntimeSettings.requireInEffect(MathMode.STRICT);
            ProbeResult found = probe(device);
            results.put(device, found);
            inexact.filter(_ -> !found.isExact()).ifPresent(told -> told.accept(device, found));
            known = found;
        }
        return known;
    }

    /** Runs it; tests have devices of their own. */
    ProbeResult probe(DeviceInfo device) {
        return DeviceProbe.run(device);
    }

    /**
     * Refuses a device that is not exact, unless another is told of it.
     *
     * @param advice what to do instead
     * @throws DeviceException if the device's arithmetic is not what strict mode needs; says the fault that others follow
     *     from
     */
    public void requireUsable(DeviceInfo device, Wording advice) {
        ProbeResult result = of(device);
        if (!result.isExact() && inexact.isEmpty()) {
            throw new DeviceException(Wording.of(
                    "%s cannot compute in %s strict: its driver %s; %s",
                    device, Term.MATH, result.findings().getFirst(), advice));
        }
    }

    /** What was found so far. */
    public synchronized Map<DeviceInfo, ProbeResult> results() {
        return Collections.unmodifiableMap(new LinkedHashMap<>(results));
    }
}
