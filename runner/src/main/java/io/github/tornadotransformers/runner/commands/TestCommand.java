package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Failure;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Named here for the help; the launcher runs it, because it rebuilds the program. */
@Command(name = "test", description = "Build everything and run the whole test suite.", sortOptions = false)
final class TestCommand implements Callable<Integer> {
    @Parameters(paramLabel = "OPTION", description = "options for Maven, for instance -pl models")
    List<String> options = List.of();

    @Mixin
    CommonOptions common;

    @Override
    public Integer call() {
        throw Failure.usage("the tests are run by the launcher: ./transformers test");
    }
}
