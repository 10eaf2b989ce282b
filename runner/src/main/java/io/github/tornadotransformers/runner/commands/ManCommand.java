package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The manual page. */
@Command(
        name = "man",
        customSynopsis = "transformers man",
        description = {
            "Print a manual page of all commands and options.",
            "",
            "To read it: ./transformers man | man -l -. To keep it: write it to ~/.local/share/man/man1/transformers.1."
        },
        sortOptions = false)
final class ManCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    CommonOptions common;

    ManCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        String version = "tornado-transformers " + Version.ofProject();
        console.out().print(ManPage.of(Commands.described(console, _ -> true), version));
        return ExitCode.OK;
    }
}
