package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What a shell needs to complete commands and options. */
@Command(
        name = "completion",
        customSynopsis = "transformers completion",
        description = {
            "Print what Bash and Zsh need to complete commands and options.",
            "",
            "For this shell: source <(./transformers completion). For all: put that line into ~/.bashrc or ~/.zshrc."
        },
        sortOptions = false)
final class CompletionCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    CommonOptions common;

    CompletionCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        console.out().print(AutoComplete.bash("transformers", Commands.described(console, _ -> true)));
        return ExitCode.OK;
    }
}
