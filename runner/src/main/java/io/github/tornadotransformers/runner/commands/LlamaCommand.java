package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import picocli.CommandLine.Command;

@Command(
        name = "llama",
        customSynopsis = "transformers llama [PROMPT] [OPTION]...",
        description = "As generate, with a small Llama that comes with the project where -m names no model.",
        sortOptions = false)
final class LlamaCommand extends GenerationCommand {
    LlamaCommand(Console console) {
        super(console, ShippedModels.LLAMA);
    }
}
