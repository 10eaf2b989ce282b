package io.github.tornadotransformers.runner.engines;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A TornadoVM SDK on this machine. The launcher looks for it and hands its folder on in {@code TORNADOVM_HOME}. */
public record TornadoSdk(Path home) {
    private static final String VARIABLE = "TORNADOVM_HOME";
    private static final int PATIENCE_SECONDS = 60;

    public static Optional<TornadoSdk> of(Console console) {
        return console.variable(VARIABLE)
                .map(Path::of)
                .map(TornadoSdk::new)
                .filter(sdk -> Files.isExecutable(sdk.launcher()));
    }

    private Path launcher() {
        return home.resolve("bin").resolve("tornado");
    }

    /** @throws Failure if the SDK's launcher does not work */
    public List<TornadoDevice> devices() {
        ProcessBuilder builder = new ProcessBuilder(launcher().toString(), "--devices").redirectErrorStream(true);
        builder.environment().put(VARIABLE, home.toString());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw Failure.of(launcher() + " --devices failed: " + firstLine(output));
            }
            return TornadoDevice.parse(output);
        } catch (IOException e) {
            throw Failure.of(launcher() + " cannot be run: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(launcher() + " --devices was interrupted", e);
        }
    }

    private static String firstLine(String output) {
        return output.lines().filter(line -> !line.isBlank()).findFirst().orElse("it printed nothing");
    }
}
