package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.engines.TornadoDevice;
import io.github.tornadotransformers.runner.engines.TornadoSdk;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists what the device engines can run on. */
@Command(name = "devices", description = "List the devices that TornadoVM offers.", sortOptions = false)
final class DevicesCommand implements Callable<Integer> {
    private final Console console;

    @Option(names = "--json", description = "print one JSON object: sdk, devices")
    boolean json;

    @Mixin
    CommonOptions common;

    DevicesCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Optional<TornadoSdk> sdk = TornadoSdk.of(console);
        List<TornadoDevice> devices = sdk.map(TornadoSdk::devices).orElse(List.of());
        if (json) {
            console.out().println(toJson(sdk, devices).toString());
        } else if (sdk.isEmpty()) {
            throw Failure.of("no TornadoVM SDK was found: ./tornado-env.sh says how to get one; the engines host and"
                    + " scalar need none");
        } else {
            devices.forEach(device -> console.out().println(device.describe()));
            if (devices.isEmpty()) {
                throw Failure.of(
                        "the SDK in " + sdk.get().home() + " finds no device: ./tornado-env.sh says what is missing");
            }
        }
        return ExitCode.OK;
    }

    private static ObjectNode toJson(Optional<TornadoSdk> sdk, List<TornadoDevice> devices) {
        ObjectNode object =
                Json.object().put("sdk", sdk.map(each -> each.home().toString()).orElse(null));
        ArrayNode array = Json.array();
        for (TornadoDevice device : devices) {
            array.add(Json.object()
                    .put("device", device.id())
                    .put("backend", device.backend())
                    .put("platform", device.platform())
                    .put("name", device.name())
                    .put("global_memory", device.globalMemory())
                    .put("local_memory", device.localMemory())
                    .put("default", device.isDefault()));
        }
        object.set("devices", array);
        return object;
    }
}
