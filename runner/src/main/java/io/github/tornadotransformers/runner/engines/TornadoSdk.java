package io.github.tornadotransformers.runner.engines;

import io.github.tornadotransformers.runner.console.Console;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A TornadoVM SDK on this machine. The launcher looks for it and hands its folder on in {@code TORNADOVM_HOME}. */
public record TornadoSdk(Path home) {
    private static final String VARIABLE = "TORNADOVM_HOME";

    public static Optional<TornadoSdk> of(Console console) {
        return console.variable(VARIABLE)
                .map(Path::of)
                .map(TornadoSdk::new)
                .filter(sdk -> Files.isExecutable(sdk.launcher()));
    }

    private Path launcher() {
        return home.resolve("bin").resolve("tornado");
    }
}
