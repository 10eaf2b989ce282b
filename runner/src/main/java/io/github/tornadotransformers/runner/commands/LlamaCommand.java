package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import picocli.CommandLine.Command;

@Command(
        name = "llama",
        customSynopsis = "transformers llama [PROMPT] [OPTION]...",
        description = "Continue a prompt with a Llama model.",
        sortOptions = false)
final class LlamaCommand extends GenerateCommand {
    LlamaCommand(Console console) {
        super(console, "llama", ShippedModels.LLAMA);
    }
}
