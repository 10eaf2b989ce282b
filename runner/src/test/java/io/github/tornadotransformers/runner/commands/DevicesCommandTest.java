package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The emulator as a device of an SDK, whose launcher is never started. */
@OnEmulator
class DevicesCommandTest {
    @TempDir
    private Path sdk;

    @BeforeEach
    void makeLauncher() throws IOException {
        Path launcher =
                Files.createFile(Files.createDirectory(sdk.resolve("bin")).resolve("tornado"));
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
    }

    private CommandRun run(String... arguments) {
        return CommandRun.with(Map.of("TORNADOVM_HOME", sdk.toString()), "", arguments);
    }

    @Test
    void aDeviceIsDescribedAndProbed() {
        CommandRun run = run("devices");
        assertThat(run.exitCode()).isEqualTo(ExitCode.OK);
        assertThat(run.out().lines())
                .hasSize(2)
                .startsWith(
                        "0:0  virtual  emulator (no device) (emulator (no device)): cpu, memory 4.0 GiB, one buffer 1.0"
                                + " GiB, work-group 1024, fp64 yes, fp16 no (not needed), replays graphs")
                .endsWith("     strict mode: yes");
    }

    @Test
    void jsonSaysWhetherStrictModeRuns() {
        JsonNode device = run("devices", "--json").json().get("devices").get(0);
        assertThat(device.get("strict").asBoolean()).isTrue();
        assertThat(device.get("faults")).isEmpty();
    }

    @Test
    void everyFaultIsAReason() {
        assertThat(new StrictMode(List.of())).hasToString("strict mode: yes");
        assertThat(new StrictMode(List.of("flushes subnormals (…)", "divides wrongly (…)")))
                .hasToString("strict mode: no: flushes subnormals (…); divides wrongly (…)");
    }
}
