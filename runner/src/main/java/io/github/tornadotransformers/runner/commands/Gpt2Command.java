package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import picocli.CommandLine.Command;

@Command(
        name = "gpt2",
        customSynopsis = "transformers gpt2 [PROMPT] [OPTION]...",
        description = "Continue a prompt with a GPT-2 model.",
        sortOptions = false)
final class Gpt2Command extends GenerateCommand {
    Gpt2Command(Console console) {
        super(console, "gpt2", ShippedModels.GPT2);
    }
}
