package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.console.ExitCode;
import org.junit.jupiter.api.Test;

class JmhCommandTest {
    @Test
    void argumentsAreJmhs() {
        CommandRun run = CommandRun.of(
                "jmh", "-l", "-p", "model=tiny-gpt2", "-p", "op=qkvProj", "-p", "engine=host", "-p", "dtype=bf16");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out().lines())
                .isNotEmpty()
                .allMatch(line -> line.matches("tiny-gpt2/qkvProj/.*/bf16/host/\\d+"));
    }

    @Test
    void wrongArgumentsAreAWrongCall() {
        CommandRun run = CommandRun.of("jmh", "-p", "modle=gpt2-124M");
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.out()).isEmpty();
        assertThat(run.errLines())
                .containsExactly("transformers jmh: there is no parameter 'modle', expected one of model, op, pass,"
                        + " dtype, engine, threads; see --help");
    }

    @Test
    void aDeviceWithoutTornadoVmCannotRun() {
        CommandRun run = CommandRun.of(
                "jmh",
                "OpBenchmark",
                "-p",
                "model=tiny-llama",
                "-p",
                "op=rotary",
                "-p",
                "engine=tornado",
                "-f",
                "0",
                "-v",
                "SILENT");
        assertThat(run.exitCode()).isEqualTo(ExitCode.NO_ENGINE);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains("transformers jmh: engine tornado: no TornadoVM SDK was found");
    }

    @Test
    void helpIsOursAndJmhs() {
        assertThat(CommandRun.of("jmh", "--help").out()).contains("transformers jmh [BENCHMARK]", "-p model=gpt2-124M");
        assertThat(CommandRun.of("jmh", "-h").out()).contains("JMH's own options");
    }
}
