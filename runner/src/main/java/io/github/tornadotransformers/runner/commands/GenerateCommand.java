package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import picocli.CommandLine.Command;

@Command(
        name = "generate",
        aliases = "run",
        customSynopsis = "transformers generate [PROMPT] [OPTION]...",
        description = "Continue a prompt with a model of any family.",
        sortOptions = false)
final class GenerateCommand extends GenerationCommand {
    GenerateCommand(Console console) {
        super(console, ShippedModels.LLAMA);
    }
}
