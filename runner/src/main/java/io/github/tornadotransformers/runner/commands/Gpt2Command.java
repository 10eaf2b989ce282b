package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import picocli.CommandLine.Command;

@Command(
        name = "gpt2",
        customSynopsis = "transformers gpt2 [PROMPT] [OPTION]...",
        description = "As generate, with a small GPT-2 that comes with the project where -m names no model.",
        sortOptions = false)
final class Gpt2Command extends GenerationCommand {
    Gpt2Command(Console console) {
        super(console, ShippedModels.GPT2);
    }
}
