package io.github.tornadotransformers.runner.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code benchmarks/first-hour-on-a-gpu.sh} with a fake program, which fails where it is told to. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the script and its fake are shell scripts")
class FirstHourTest {
    @TempDir
    private Path folder;

    private ScriptRun run(String failing, String... options) throws IOException, InterruptedException {
        Path fake = Files.writeString(
                folder.resolve("fake"),
                "#!/bin/sh\necho \"called with $*\"\ncase \"$*\" in " + failing + ") exit 3 ;; esac\n");
        assertThat(fake.toFile().setExecutable(true)).isTrue();
        List<String> command = new ArrayList<>(List.of(
                Path.of("../benchmarks/first-hour-on-a-gpu.sh")
                        .toAbsolutePath()
                        .normalize()
                        .toString(),
                "--quick",
                "--out",
                folder.resolve("out").toString()));
        command.addAll(List.of(options));
        return RunningScript.start(
                        folder,
                        Map.of(
                                "PATH",
                                System.getenv("PATH"),
                                "TRANSFORMERS",
                                fake.toString(),
                                "HOME",
                                folder.toString()),
                        command)
                .finish();
    }

    @Test
    void everyStepIsInTheReport() throws IOException, InterruptedException {
        ScriptRun run = run("nothing", "--engine", "cuda", "--models", "a,b", "--shapes", "s", "--dtypes", "f32,bf16");
        String report = Files.readString(folder.resolve("out/report.md"));
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out().strip()).isEqualTo(folder.resolve("out/report.md").toString());
        assertThat(report)
                .contains("called with devices")
                .contains("called with verify --kernels --engines cuda")
                .contains("called with verify a --engines scalar,cuda --dtype f32 --steps 2")
                .contains("called with verify b --engines scalar,cuda --dtype bf16 --steps 2")
                .contains("called with verify b --engines scalar,cuda --beside 3 --steps 2")
                .contains("called with jmh OpBenchmark -p engine=cuda -p model=s -p dtype=bf16 -p pass=decode")
                .contains("called with bench s -e cuda --dtype f32 -r 1")
                .endsWith("Every step went well.\n");
    }

    @Test
    void aStepThatFailsIsNamedAndTheOthersGoOn() throws IOException, InterruptedException {
        ScriptRun run = run("verify*--kernels*", "--models", "a", "--shapes", "s", "--dtypes", "f32");
        String report = Files.readString(folder.resolve("out/report.md"));
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(report)
                .contains("**Failed, exit code 3.**")
                .contains("called with bench s")
                .endsWith("These steps failed:\n\n- Every kernel by itself, right?\n");
    }

    @Test
    void wrongCallsAreSaid() throws IOException, InterruptedException {
        assertThat(run("nothing", "--nosuch").exitCode()).isEqualTo(2);
        ScriptRun run = run("nothing", "--gguf", "x");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).startsWith("first-hour-on-a-gpu.sh: --gguf is given without --llama-cpp");
    }
}
