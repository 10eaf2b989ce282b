package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.benchmarks.jmh.JmhRun;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code jmh}: what {@code bench} times, under JMH. All arguments but its own two are JMH's. */
@Command(
        name = "jmh",
        customSynopsis = "transformers jmh [BENCHMARK] [-p NAME=VALUE,...]... [ARGUMENT]...",
        description = {
            "Time Ops, gradients and whole models with JMH, each checked against the scalar definition first:"
                    + " docs/BENCHMARKS.md.",
            "",
            JmhRun.PARAMETERS
        },
        sortOptions = false)
final class JmhCommand implements Callable<Integer> {
    @Option(names = "--help", usageHelp = true, description = "show this help")
    boolean help;

    @Option(names = CommonOptions.STACKTRACE, description = "on an error, show where it came from")
    boolean stacktrace;

    @Parameters(paramLabel = "ARGUMENT", description = "arguments of JMH")
    List<String> arguments = List.of();

    private final Console console;

    JmhCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        new JmhRun(console.out()::print, console.err(), true).run(arguments.toArray(String[]::new));
        return ExitCode.OK;
    }
}
