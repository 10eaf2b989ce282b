package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.engines.TornadoSdk;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.taskgraphs.probe.DeviceProbes;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists what the device engines can run on. */
@Command(name = "devices", description = "List the devices that TornadoVM offers.", sortOptions = false)
final class DevicesCommand implements Callable<Integer> {
    private static final double GIB = 1L << 30;

    private final Console console;
    private final DeviceProbes probes = new DeviceProbes();

    @Option(names = "--json", description = "print one JSON object: sdk, devices")
    boolean json;

    /** For the launcher, which asks once for each SDK: the engine that runs when none is named. */
    @Option(names = "--default-engine", hidden = true)
    boolean defaultEngine;

    @Mixin
    CommonOptions common;

    DevicesCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Optional<TornadoSdk> sdk = TornadoSdk.of(console);
        List<DeviceInfo> devices = TornadoDevices.list(MathMode.STRICT);
        if (defaultEngine) {
            console.out().println(EngineSettings.automatic().engine().toString());
        } else if (json) {
            console.out().println(toJson(sdk, devices).toString());
        } else if (sdk.isEmpty()) {
            throw Failure.noEngine(
                    "no TornadoVM SDK was found: ./tornado-env.sh says how to get one; the engines host and"
                            + " scalar need none");
        } else if (devices.isEmpty()) {
            throw Failure.noEngine(
                    "the SDK in " + sdk.get().home() + " finds no device: ./tornado-env.sh says what is missing");
        } else {
            devices.forEach(this::show);
        }
        return ExitCode.OK;
    }

    /** The device first, for its driver may take the process with it. */
    private void show(DeviceInfo device) {
        console.out().println(describe(device));
        console.out().println("     " + StrictMode.of(device, probes));
    }

    private static String describe(DeviceInfo device) {
        return String.format(
                Locale.ROOT,
                "%s  %s  %s (%s): %s, memory %.1f GiB, one buffer %.1f GiB, work-group %d, fp64 %s, fp16 %s%s",
                device.id(),
                device.backend(),
                device.name(),
                device.platform(),
                kind(device),
                device.memoryBytes() / GIB,
                device.maxAllocationBytes() / GIB,
                device.maxWorkGroupSize(),
                device.fp64() ? "yes" : "no (not needed)",
                device.fp16() ? "yes" : "no (not needed)",
                device.backend().replaysGraphs() ? ", replays graphs" : "");
    }

    private static String kind(DeviceInfo device) {
        return device.kind().name().toLowerCase(Locale.ROOT);
    }

    private ObjectNode toJson(Optional<TornadoSdk> sdk, List<DeviceInfo> devices) {
        ObjectNode all =
                Json.object().put("sdk", sdk.map(each -> each.home().toString()).orElse(null));
        ArrayNode array = all.putArray("devices");
        for (DeviceInfo device : devices) {
            StrictMode strict = StrictMode.of(device, probes);
            ObjectNode object = Json.object()
                    .put("device", device.id().toString())
                    .put("backend", device.backend().toString())
                    .put("kind", kind(device))
                    .put("name", device.name())
                    .put("platform", device.platform())
                    .put("memory_bytes", device.memoryBytes())
                    .put("max_buffer_bytes", device.maxAllocationBytes())
                    .put("max_work_group", device.maxWorkGroupSize())
                    .put("fp64", device.fp64())
                    .put("fp16", device.fp16())
                    .put("replays_graphs", device.backend().replaysGraphs())
                    .put("strict", strict.holds());
            strict.reasons().forEach(object.putArray("faults")::add);
            array.add(object);
        }
        return all;
    }
}
