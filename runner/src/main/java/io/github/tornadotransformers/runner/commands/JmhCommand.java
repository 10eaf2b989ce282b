package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Failure;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Named here for the help; the launcher runs it, because it is a program of its own. */
@Command(
        name = "jmh",
        description = "Time Ops, gradients and models with JMH, and arguments of JMH: docs/BENCHMARKS.md.",
        sortOptions = false)
final class JmhCommand implements Callable<Integer> {
    @Parameters(paramLabel = "ARGUMENT", description = "arguments of JMH")
    List<String> arguments = List.of();

    @Mixin
    CommonOptions common;

    @Override
    public Integer call() {
        throw Failure.usage("the benchmarks are run by the launcher: ./transformers jmh");
    }
}
